//! The functions that a PAC file may call, by their names in JavaScript.

use std::cell::RefCell;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};

use crate::addresses::{is_in_net, is_in_net_ex, joined, own_addresses, sort_ip_address_list};
use crate::calendar::{Now, date_range, time_range, weekday_range};
use crate::hosts::{
    dns_domain_is, dns_domain_levels, is_plain_host_name, local_host_or_domain_is, sh_exp_match,
};

/// Looks up the addresses of a name; none if it has none, or if there is no more time.
pub type LookUp = Box<dyn Fn(&str) -> Vec<IpAddr>>;

/// Most names that one evaluation looks up.
pub const MAX_NAMES: usize = 20;

/// The surroundings of an evaluation.
pub struct World {
    pub now: Now,
    /// Looks up the addresses of a name.
    pub look_up: LookUp,
    /// The answers so far: a file asks for the same name again and again.
    pub names: RefCell<HashMap<String, Vec<IpAddr>>>,
}

/// A value that a function returns.
#[derive(Debug, PartialEq)]
pub enum Answer {
    Null,
    Bool(bool),
    Number(usize),
    Text(String),
}

/// A function of a PAC file. An error is thrown as an exception.
pub type Function = fn(&World, &[String]) -> Result<Answer, String>;

/// All functions.
pub const FUNCTIONS: [(&str, Function); 21] = [
    ("isPlainHostName", |_, a| Ok(Answer::Bool(is_plain_host_name(text(a, 0))))),
    ("dnsDomainIs", |_, a| Ok(Answer::Bool(dns_domain_is(text(a, 0), text(a, 1))))),
    ("localHostOrDomainIs", |_, a| Ok(Answer::Bool(local_host_or_domain_is(text(a, 0), text(a, 1))))),
    ("dnsDomainLevels", |_, a| Ok(Answer::Number(dns_domain_levels(text(a, 0))))),
    ("shExpMatch", |_, a| Ok(Answer::Bool(sh_exp_match(text(a, 0), text(a, 1))))),
    ("weekdayRange", |world, a| Ok(Answer::Bool(weekday_range(a, &world.now)))),
    ("dateRange", |world, a| Ok(Answer::Bool(date_range(a, &world.now)))),
    ("timeRange", |world, a| Ok(Answer::Bool(time_range(a, &world.now)))),
    ("isResolvable", |world, a| Ok(Answer::Bool(world.address(text(a, 0))?.is_some()))),
    ("isResolvableEx", |world, a| Ok(Answer::Bool(!world.addresses(text(a, 0))?.is_empty()))),
    ("dnsResolve", |world, a| {
        Ok(world.address(text(a, 0))?.map_or(Answer::Null, |found| Answer::Text(found.to_string())))
    }),
    ("dnsResolveEx", |world, a| Ok(Answer::Text(joined(&world.addresses(text(a, 0))?)))),
    ("isInNet", |world, a| {
        let address = world.address(text(a, 0))?;
        Ok(Answer::Bool(address.is_some_and(|address| is_in_net(address, text(a, 1), text(a, 2)))))
    }),
    ("isInNetEx", |world, a| {
        let addresses = world.addresses(text(a, 0))?;
        Ok(Answer::Bool(addresses.iter().any(|address| is_in_net_ex(*address, text(a, 1)))))
    }),
    ("myIpAddress", |_, _| {
        let own = own_addresses();
        let own = own.iter().find(|address| address.is_ipv4()).or(own.first());
        Ok(Answer::Text(own.map_or_else(|| Ipv4Addr::LOCALHOST.to_string(), IpAddr::to_string)))
    }),
    ("myIpAddressEx", |_, _| Ok(Answer::Text(joined(&own_addresses())))),
    ("sortIpAddressList", |_, a| {
        Ok(sort_ip_address_list(text(a, 0)).map_or(Answer::Bool(false), Answer::Text))
    }),
    ("getClientVersion", |_, _| Ok(Answer::Text("1.0".to_owned()))),
    ("alert", |_, _| Ok(Answer::Null)),
    ("isValidIpAddress", |_, a| Ok(Answer::Bool(text(a, 0).parse::<IpAddr>().is_ok()))),
    ("convert_addr", |_, a| {
        let number = text(a, 0).parse::<Ipv4Addr>().map_or(0, u32::from);
        Ok(Answer::Number(number as usize))
    }),
];

/// Returns an argument; one that is missing is empty.
fn text(arguments: &[String], at: usize) -> &str {
    arguments.get(at).map_or("", |argument| argument)
}

impl World {
    /// Returns the addresses of a host, which may be an address itself.
    fn addresses(&self, host: &str) -> Result<Vec<IpAddr>, String> {
        if let Ok(address) = host.trim_matches(['[', ']']).parse() {
            return Ok(vec![address]);
        }
        if host.is_empty() {
            return Ok(Vec::new());
        }
        let host = host.to_ascii_lowercase();
        if let Some(known) = self.names.borrow().get(&host) {
            return Ok(known.clone());
        }
        if self.names.borrow().len() == MAX_NAMES {
            return Err(format!("more than {MAX_NAMES} names are looked up"));
        }
        let found = (self.look_up)(&host);
        self.names.borrow_mut().insert(host, found.clone());
        Ok(found)
    }

    /// Returns the first IPv4 address of a host.
    fn address(&self, host: &str) -> Result<Option<Ipv4Addr>, String> {
        let v4 = |address: &IpAddr| match address {
            IpAddr::V4(address) => Some(*address),
            IpAddr::V6(_) => None,
        };
        Ok(self.addresses(host)?.iter().find_map(v4))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world() -> World {
        let look_up = |name: &str| match name {
            "two.test" => vec!["2001:db8::2".parse().unwrap(), "10.0.0.2".parse().unwrap()],
            "six.test" => vec!["2001:db8::6".parse().unwrap()],
            _ => Vec::new(),
        };
        World { now: Now::default(), look_up: Box::new(look_up), names: RefCell::default() }
    }

    fn call(world: &World, name: &str, arguments: &str) -> Result<Answer, String> {
        let (_, function) = FUNCTIONS.iter().find(|(known, _)| *known == name).unwrap();
        function(world, &arguments.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn functions_that_look_up_names() {
        let text = |text: &str| Answer::Text(text.to_owned());
        let yes = || Answer::Bool(true);
        let no = || Answer::Bool(false);
        for (name, arguments, wanted) in [
            ("dnsResolve", "two.test", text("10.0.0.2")),
            ("dnsResolve", "TWO.test", text("10.0.0.2")),
            ("dnsResolve", "six.test", Answer::Null),
            ("dnsResolve", "none.test", Answer::Null),
            ("dnsResolve", "127.0.0.1", text("127.0.0.1")),
            ("dnsResolve", "", Answer::Null),
            ("dnsResolveEx", "two.test", text("2001:db8::2;10.0.0.2")),
            ("dnsResolveEx", "none.test", text("")),
            ("isResolvable", "two.test", yes()),
            ("isResolvable", "six.test", no()),
            ("isResolvableEx", "six.test", yes()),
            ("isResolvableEx", "none.test", no()),
            ("isInNet", "two.test 10.0.0.0 255.0.0.0", yes()),
            ("isInNet", "10.0.0.9 10.0.0.0 255.255.255.248", no()),
            ("isInNet", "none.test 10.0.0.0 255.0.0.0", no()),
            ("isInNet", "", no()),
            ("isInNetEx", "two.test 2001:db8::/32", yes()),
            ("isInNetEx", "2001:db9::1 2001:db8::/32", no()),
            ("isInNetEx", "[2001:db8::1] 2001:db8::/32", yes()),
            ("sortIpAddressList", "10.0.0.2;::1", text("::1;10.0.0.2")),
            ("sortIpAddressList", "x", no()),
            ("dnsDomainLevels", "a.b.c", Answer::Number(2)),
            ("isPlainHostName", "a", yes()),
            ("convert_addr", "1.2.3.4", Answer::Number(0x0102_0304)),
        ] {
            assert_eq!(call(&world(), name, arguments), Ok(wanted), "{name}({arguments})");
        }
    }

    #[test]
    fn look_ups_are_counted_by_name() {
        let world = world();
        for _ in 0..100 {
            call(&world, "isResolvable", "two.test").unwrap();
        }
        for number in 1..MAX_NAMES {
            call(&world, "isResolvable", &format!("{number}.test")).unwrap();
        }
        assert!(call(&world, "isResolvable", "one-more.test").is_err());
        assert!(call(&world, "isResolvable", "two.test").is_ok());
    }
}
