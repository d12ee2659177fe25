//! AWS Signature Version 4 with the parameters of CURLOPT_AWS_SIGV4, for Amazon and for compatible services
//! with other names.

use super::hash::{hmac_sha256, sha256};
use crate::date::Civil;
use crate::{escape, hex};

/// The request to sign.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// `provider1[:provider2[:region[:service]]]`
    pub parameters: &'a str,
    pub user: &'a [u8],
    pub secret: &'a [u8],
    pub method: &'a [u8],
    /// Host name only; region and service are derived from it if they are not given.
    pub host_name: &'a [u8],
    /// The value of the `Host:` header.
    pub host: &'a [u8],
    /// As in the request line.
    pub path: &'a [u8],
    pub query: Option<&'a [u8]>,
    /// The application's own headers.
    pub headers: &'a [(&'a [u8], &'a [u8])],
    pub payload: Payload<'a>,
    /// Seconds since 1970.
    pub now: i64,
}

/// The body.
#[derive(Clone, Copy, Debug)]
pub enum Payload<'a> {
    Known(&'a [u8]),
    /// The body cannot be read before it is sent. S3 takes it unsigned, other services get the signature of
    /// an empty body.
    Streamed,
}

/// The headers to add: the value of `Authorization:`, and other headers in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    pub authorization: Vec<u8>,
    pub headers: Vec<(String, Vec<u8>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// A part of the parameters is empty.
    BadParameters,
    /// Neither the parameters nor the host name contain the service.
    NoService,
    NoRegion,
}

pub fn sign(request: &Request<'_>) -> Result<Signature, Error> {
    let names = Names::new(request)?;
    let date_name = format!("x-{}-date", names.provider2);
    let hash_name = format!("x-{}-content-sha256", names.provider2);
    let given = |name: &str| {
        let found = request.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name.as_bytes()));
        found.map(|(_, value)| value.trim_ascii())
    };
    let mut added = Vec::new();
    let timestamp = match given(&date_name) {
        Some(stamp) if stamp.len() >= 8 => stamp.to_vec(),
        _ => {
            let stamp = Civil::from_seconds(request.now).to_string().into_bytes();
            added.push((names.date_header(), stamp.clone()));
            stamp
        }
    };
    let payload_hash = match given(&hash_name) {
        Some(hash) => hash.to_vec(),
        None => payload_hash(request.payload, names.is_s3),
    };
    if names.is_s3 && given(&hash_name).is_none() {
        added.push((hash_name, payload_hash.clone()));
    }
    let headers = canonical_headers(request, &added);
    let signed_names = headers.iter().map(|(name, _)| name.as_slice()).collect::<Vec<_>>().join(&b';');
    let canonical = canonical_request(request, &names, &headers, &signed_names, &payload_hash);
    let day = &timestamp[..8];
    let scope =
        [day, names.region.as_bytes(), names.service.as_bytes(), names.request_type().as_bytes()].join(&b'/');
    let algorithm = format!("{}4-HMAC-SHA256", names.provider1.to_ascii_uppercase());
    let hashed = hex::encode(&sha256(&canonical));
    let to_sign = [algorithm.as_bytes(), &timestamp, &scope, hashed.as_bytes()].join(&b'\n');
    let signature = hex::encode(&hmac_sha256(&names.key(request.secret, day), &to_sign));
    let mut authorization = format!("{algorithm} Credential=").into_bytes();
    authorization.extend_from_slice(&escape::encode(request.user));
    authorization.push(b'/');
    authorization.extend_from_slice(&scope);
    authorization.extend_from_slice(b", SignedHeaders=");
    authorization.extend_from_slice(&signed_names);
    authorization.extend_from_slice(format!(", Signature={signature}").as_bytes());
    Ok(Signature { authorization, headers: added })
}

/// The names derived from the parameters; providers in lower case.
struct Names {
    provider1: String,
    provider2: String,
    region: String,
    service: String,
    is_s3: bool,
}

impl Names {
    fn new(request: &Request<'_>) -> Result<Names, Error> {
        let mut parts = request.parameters.splitn(4, ':');
        let mut next = || match parts.next() {
            Some("") => Err(Error::BadParameters),
            part => Ok(part.map(str::to_owned)),
        };
        let provider1 = next()?.unwrap_or_default().to_ascii_lowercase();
        let provider2 = next()?.map_or_else(|| provider1.clone(), |name| name.to_ascii_lowercase());
        let (region, service) = (next()?, next()?);
        let host = String::from_utf8_lossy(request.host_name);
        let mut labels = host.split('.');
        let mut label = |error| {
            let found = labels.next().map(str::to_owned);
            // The last label alone names nothing: another one must follow.
            found.filter(|label| label.len() < host.len() && !label.is_empty()).ok_or(error)
        };
        let service = match service {
            Some(service) => {
                return Self::build(provider1, provider2, region.ok_or(Error::NoRegion)?, service);
            }
            None => label(Error::NoService)?,
        };
        let region = match region {
            Some(region) => region,
            None => {
                let region = label(Error::NoRegion)?;
                labels.next().ok_or(Error::NoRegion)?;
                region
            }
        };
        Self::build(provider1, provider2, region, service)
    }

    fn build(provider1: String, provider2: String, region: String, service: String) -> Result<Names, Error> {
        let is_s3 = provider1 == "aws" && service.eq_ignore_ascii_case("s3");
        Ok(Names { provider1, provider2, region, service, is_s3 })
    }

    fn request_type(&self) -> String {
        format!("{}4_request", self.provider1)
    }

    /// "X-Amz-Date"
    fn date_header(&self) -> String {
        let mut name = self.provider2.clone();
        // The first letter may be any.
        if let Some(first) = name.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        format!("X-{name}-Date")
    }

    fn key(&self, secret: &[u8], day: &[u8]) -> [u8; 32] {
        let first = [self.provider1.to_ascii_uppercase().as_bytes(), b"4", secret].concat();
        let dated = hmac_sha256(&first, day);
        let regional = hmac_sha256(&dated, self.region.as_bytes());
        let serving = hmac_sha256(&regional, self.service.as_bytes());
        hmac_sha256(&serving, self.request_type().as_bytes())
    }

    /// S3 and its kin sign the path as it is sent, all others encode it once more.
    fn encodes_path_again(&self) -> bool {
        !["s3", "s3-express", "s3-outposts"].iter().any(|name| self.service.eq_ignore_ascii_case(name))
    }
}

fn payload_hash(payload: Payload<'_>, is_s3: bool) -> Vec<u8> {
    match payload {
        Payload::Known(body) => hex::encode(&sha256(body)).into_bytes(),
        Payload::Streamed if is_s3 => b"UNSIGNED-PAYLOAD".to_vec(),
        Payload::Streamed => hex::encode(&sha256(b"")).into_bytes(),
    }
}

/// Names in lower case and sorted; values of the same name joined by commas, blanks in them collapsed.
fn canonical_headers(request: &Request<'_>, added: &[(String, Vec<u8>)]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let has_host = request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(b"host"));
    let mut headers: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    if !has_host {
        headers.push((b"host".to_vec(), collapsed(request.host)));
    }
    for (name, value) in added {
        headers.push((name.to_ascii_lowercase().into_bytes(), value.clone()));
    }
    for (name, value) in request.headers {
        headers.push((name.to_ascii_lowercase(), collapsed(value)));
    }
    headers.sort_by(|(one, _), (other, _)| one.cmp(other));
    headers.dedup_by(|(name, value), (kept, kept_value)| {
        let is_same = name == kept;
        if is_same {
            kept_value.push(b',');
            kept_value.extend_from_slice(value);
        }
        is_same
    });
    headers
}

fn collapsed(value: &[u8]) -> Vec<u8> {
    let words = value.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(&b' ')
}

fn canonical_request(
    request: &Request<'_>,
    names: &Names,
    headers: &[(Vec<u8>, Vec<u8>)],
    signed_names: &[u8],
    payload_hash: &[u8],
) -> Vec<u8> {
    let path = if names.encodes_path_again() { encode_path(request.path) } else { request.path.to_vec() };
    let mut header_lines = Vec::new();
    for (name, value) in headers {
        header_lines.extend_from_slice(&[name, &b":"[..], value, b"\n"].concat());
    }
    let query = canonical_query(request.query.unwrap_or_default());
    [request.method, &path, &query, &header_lines, signed_names, payload_hash].join(&b'\n')
}

fn encode_path(path: &[u8]) -> Vec<u8> {
    let path = if path.is_empty() { b"/" } else { path };
    path.split(|&octet| octet == b'/').map(escape::encode).collect::<Vec<_>>().join(&b'/')
}

/// Every name and value encoded the same way, sorted, with an equals sign between them.
fn canonical_query(query: &[u8]) -> Vec<u8> {
    let again = |part: &[u8]| {
        let decoded = escape::decode(part, escape::Reject::Nothing);
        escape::encode(&decoded.unwrap_or_default())
    };
    let mut pairs: Vec<(Vec<u8>, Vec<u8>)> = query
        .split(|&octet| octet == b'&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| match pair.iter().position(|&octet| octet == b'=') {
            Some(at) => (again(&pair[..at]), again(&pair[at + 1..])),
            None => (again(pair), Vec::new()),
        })
        .collect();
    pairs.sort();
    let pairs: Vec<Vec<u8>> = pairs.into_iter().map(|(name, value)| [name, value].join(&b'=')).collect();
    pairs.join(&b'&')
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATE_2015: i64 = 1_440_938_160; // 2015-08-30 12:36:00

    /// The request of Amazon's published test suite.
    fn vanilla<'a>() -> Request<'a> {
        Request {
            parameters: "aws:amz:us-east-1:service",
            user: b"AKIDEXAMPLE",
            secret: b"wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
            method: b"GET",
            host_name: b"example.amazonaws.com",
            host: b"example.amazonaws.com",
            path: b"/",
            query: None,
            headers: &[],
            payload: Payload::Known(b""),
            now: DATE_2015,
        }
    }

    fn signature(request: &Request<'_>) -> String {
        let signed = sign(request).unwrap();
        let text = String::from_utf8(signed.authorization).unwrap();
        text.rsplit_once("Signature=").unwrap().1.to_owned()
    }

    #[test]
    fn amazons_test_suite() {
        let signed = sign(&vanilla()).unwrap();
        assert_eq!(
            String::from_utf8(signed.authorization).unwrap(),
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
             SignedHeaders=host;x-amz-date, \
             Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
        );
        assert_eq!(signed.headers, [("X-Amz-Date".to_owned(), b"20150830T123600Z".to_vec())]);
        // get-vanilla-query-order-key-case, post-vanilla
        let query = Request { query: Some(b"Param2=value2&Param1=value1"), ..vanilla() };
        assert_eq!(signature(&query), "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500");
        let post = Request { method: b"POST", ..vanilla() };
        assert_eq!(signature(&post), "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b");
    }

    /// The output of curl 8.22 at the start of 1970.
    #[test]
    fn as_curl_signs() {
        let request = Request {
            parameters: "aws:amz:us-east-2:es",
            user: b"user",
            secret: b"secret",
            host_name: b"fake.fake.fake",
            host: b"fake.fake.fake:8000",
            path: b"/472/a=%E3%81%82",
            now: 0,
            ..vanilla()
        };
        assert_eq!(signature(&request), "b8783c8387a5249b084642126fe1f8e07e12a2847820fd5b6cd64b2047149da4");
        let request = Request { user: b"user\r\n", path: b"/", ..request };
        assert_eq!(signature(&request), "e5747e9555c0e96f1067cc4bf9f6055e72a185178e5dd0c2909279ec1d66360b");
        let text = sign(&request).unwrap().authorization;
        assert!(
            text.starts_with(b"AWS4-HMAC-SHA256 Credential=user%0D%0A/19700101/us-east-2/es/aws4_request, ")
        );
    }

    #[test]
    fn headers_are_merged_and_sorted() {
        let headers: &[(&[u8], &[u8])] =
            &[(b"X-Amz-Meta-Two", b" a   b "), (b"x-amz-meta", b"1"), (b"X-AMZ-Meta", b"2"), (b"Host", b"h")];
        let request = Request { headers, ..vanilla() };
        let lines: Vec<String> = canonical_headers(&request, &[])
            .iter()
            .map(|(name, value)| {
                format!("{}:{}", String::from_utf8_lossy(name), String::from_utf8_lossy(value))
            })
            .collect();
        assert_eq!(lines, ["host:h", "x-amz-meta:1,2", "x-amz-meta-two:a b"]);
    }

    #[test]
    fn a_given_date_is_used() {
        let headers: &[(&[u8], &[u8])] = &[(b"X-Amz-Date", b"20150830T123600Z")];
        let request = Request { headers, now: 0, ..vanilla() };
        assert!(sign(&request).unwrap().headers.is_empty());
        assert_eq!(signature(&request), signature(&vanilla()));
    }

    #[test]
    fn s3_sends_the_hash_of_the_payload() {
        let request = Request { parameters: "aws:amz:us-east-1:s3", ..vanilla() };
        let signed = sign(&request).unwrap();
        let names: Vec<&str> = signed.headers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["X-Amz-Date", "x-amz-content-sha256"]);
        let streamed = sign(&Request { payload: Payload::Streamed, ..request }).unwrap();
        assert_eq!(streamed.headers[1].1, b"UNSIGNED-PAYLOAD");
    }

    #[test]
    fn canonical_parts() {
        assert_eq!(canonical_query(b"b=2&a&a=%3d&%61=1"), b"a=&a=%3D&a=1&b=2");
        assert_eq!(canonical_query(b""), b"");
        assert_eq!(encode_path(b"/a=%E3/b c"), b"/a%3D%25E3/b%20c");
        assert_eq!(encode_path(b""), b"/");
    }

    #[test]
    fn names_from_parameters_and_host() {
        let names = |parameters, host_name: &'static str| {
            let request = Request { parameters, host_name: host_name.as_bytes(), ..vanilla() };
            Names::new(&request).map(|names| {
                format!(
                    "{} {} {} {} {}",
                    names.provider1,
                    names.provider2,
                    names.region,
                    names.service,
                    names.date_header()
                )
            })
        };
        assert_eq!(names("AWS:Amz", "svc.reg.host.com"), Ok("aws amz reg svc X-Amz-Date".into()));
        assert_eq!(names("osc", "svc.reg.host"), Ok("osc osc reg svc X-Osc-Date".into()));
        assert_eq!(names("aws:amz:here", "svc.host"), Ok("aws amz here svc X-Amz-Date".into()));
        assert_eq!(names("aws:amz:here:it", "h"), Ok("aws amz here it X-Amz-Date".into()));
        assert_eq!(names("aws:amz:here", "h"), Err(Error::NoService));
        assert_eq!(names("aws:amz", "svc.reg"), Err(Error::NoRegion));
        for empty in ["", ":amz", "aws:", "aws:amz:", "aws:amz:here:"] {
            assert_eq!(names(empty, "a.b.c"), Err(Error::BadParameters), "{empty}");
        }
    }
}
