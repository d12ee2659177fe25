//! The task with hyper-util's client and hyper-rustls.

use bench_crates::{Failure, Task, block_on, run};
use http_body_util::{BodyExt, Empty};
use hyper::Uri;
use hyper::body::Bytes;
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

fn main() -> Result<(), Failure> {
    let task = Task::from_arguments()?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&task.authority) {
        roots.add(certificate?)?;
    }
    let tls = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_all_versions();
    block_on(async {
        let client: Client<_, Empty<Bytes>> = Client::builder(TokioExecutor::new()).build(connector.build());
        let uri: Uri = task.url.parse()?;
        let task = std::rc::Rc::new(task);
        let of = task.clone();
        let get = move || {
            let (client, task, uri) = (client.clone(), of.clone(), uri.clone());
            async move {
                let response = client.get(uri).await?;
                task.check(response.version())?;
                if !response.status().is_success() {
                    return Err(response.status().to_string().into());
                }
                Ok(response.into_body().collect().await?.to_bytes().len())
            }
        };
        run(&task, get).await
    })
}
