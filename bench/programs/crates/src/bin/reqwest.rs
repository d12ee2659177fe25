//! The task with reqwest.

use bench_crates::{Failure, Task, block_on, run};
use reqwest::{Certificate, Client, Version};

fn main() -> Result<(), Failure> {
    let task = Task::from_arguments()?;
    let mut builder = Client::builder().no_proxy();
    if task.is_secure() {
        builder = builder.tls_certs_only(Certificate::from_pem_bundle(&task.authority)?);
    }
    if task.version == 3 {
        builder = builder.http3_prior_knowledge();
    }
    block_on(async {
        let client = builder.build()?;
        let task = std::rc::Rc::new(task);
        let of = task.clone();
        let get = move || {
            let (client, task) = (client.clone(), of.clone());
            async move {
                let mut request = client.get(&task.url);
                if task.version == 3 {
                    request = request.version(Version::HTTP_3); // the client's setting alone sends HTTP/1.1
                }
                let response = request.send().await?.error_for_status()?;
                task.check(response.version())?;
                Ok(response.bytes().await?.len())
            }
        };
        run(&task, get).await
    })
}
