//! OpenLDAP's server, over ldap, ldaps and STARTTLS, with a small directory.

use std::io;
use std::path::Path;
use std::process::Command;

use super::{Running, free_port, program, run, with_retries};
use crate::certs::Leaf;
use crate::temp::TempDir;

/// slapd with the directory `dc=example,dc=org`: 300 people below `ou=people`, and odd entries below
/// `ou=odd`. It is readable by anybody; [`Slapd::USER`] administers it. People can also log in by SASL, with
/// their uid.
pub struct Slapd {
    _running: Running,
    _directory: TempDir,
    pub port: u16,
    pub tls_port: u16,
}

impl Slapd {
    /// Name and password of the directory's master.
    pub const USER: (&str, &str) = ("cn=admin,dc=example,dc=org", "secret");
    /// How many people there are.
    pub const PEOPLE: usize = 300;

    pub fn start(leaf: &Leaf) -> io::Result<Slapd> {
        with_retries(|| Slapd::try_start(leaf))
    }

    fn try_start(leaf: &Leaf) -> io::Result<Slapd> {
        let slapd = program("slapd", "slapd")?;
        let directory = TempDir::new("slapd")?;
        let place = directory.path();
        std::fs::create_dir_all(place.join("db"))?;
        directory.write("cert.pem", &leaf.cert_pem)?;
        directory.write("key.pem", &leaf.key_pem)?;
        let config = directory.write("slapd.conf", config(place))?;
        let entries = directory.write("entries.ldif", entries())?;
        let filled = Command::new(program("slapadd", "slapd")?)
            .arg("-f")
            .arg(&config)
            .arg("-l")
            .arg(entries)
            .output()?;
        if !filled.status.success() {
            return Err(io::Error::other(String::from_utf8_lossy(&filled.stderr).into_owned()));
        }
        let (port, tls_port) = (free_port()?, free_port()?);
        let mut command = Command::new(slapd);
        let doors = format!("ldap://127.0.0.1:{port} ldaps://127.0.0.1:{tls_port}");
        command.args(["-d", "none", "-h", &doors, "-f"]).arg(&config);
        let running = run(command, &place.join("log"), &[port, tls_port])?;
        Ok(Slapd { _running: running, _directory: directory, port, tls_port })
    }

    pub fn ldap(&self, rest: &str) -> String {
        format!("ldap://localhost:{}/{rest}", self.port)
    }

    pub fn ldaps(&self, rest: &str) -> String {
        format!("ldaps://localhost:{}/{rest}", self.tls_port)
    }
}

fn config(place: &Path) -> String {
    let place = place.display();
    format!(
        "include /etc/ldap/schema/core.schema\ninclude /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema\npidfile {place}/pid\nmodulepath /usr/lib/ldap\nmoduleload back_mdb
TLSCertificateFile {place}/cert.pem\nTLSCertificateKeyFile {place}/key.pem\nsizelimit unlimited
sasl-host localhost
sasl-secprops none
authz-regexp uid=([^,]*),.*cn=auth uid=$1,ou=people,dc=example,dc=org
database mdb\nsuffix dc=example,dc=org\nrootdn {}\nrootpw {}\ndirectory {place}/db\n",
        Slapd::USER.0,
        Slapd::USER.1
    )
}

fn entries() -> String {
    let mut all = String::from(
        "dn: dc=example,dc=org\nobjectClass: domain\ndc: example\n
dn: ou=people,dc=example,dc=org\nobjectClass: organizationalUnit\nou: people\n
dn: ou=odd,dc=example,dc=org\nobjectClass: organizationalUnit\nou: odd\n
dn: cn=blanks,ou=odd,dc=example,dc=org\nobjectClass: inetOrgPerson\ncn: blanks\nsn: odd
description:: IGxlYWRpbmc=\ndescription:: dHJhaWxpbmcg\ndescription: plain\ndescription:: R3LDvMOfZQ==
jpegPhoto:: AAECA/8=\nlabeledURI: http://example.org/a?b#c\n
dn:: Y249R3LDvMOfZSxvdT1vZGQsZGM9ZXhhbXBsZSxkYz1vcmc=\nobjectClass: person\ncn:: R3LDvMOfZQ==\nsn: x\n
dn: cn=long,ou=odd,dc=example,dc=org\nobjectClass: inetOrgPerson\ncn: long\nsn: odd\n",
    );
    all += &format!("description: {}\n\n", "long ".repeat(20_000).trim_end());
    for number in 0..Slapd::PEOPLE {
        all += &format!(
            "dn: uid=p{number},ou=people,dc=example,dc=org\nobjectClass: inetOrgPerson\nuid: p{number}\ncn: Person {number}
sn: Number {number}\nmail: p{number}@example.org\nmail: {number}@example.org\nuserPassword: pass{number}\n\n"
        );
    }
    all
}
