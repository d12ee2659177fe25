//! The task with reqwest.

use bench_crates::{Failure, Task, block_on, run};
use reqwest::{Certificate, Client};

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
                let response = client.get(&task.url).send().await?.error_for_status()?;
                task.check(response.version())?;
                Ok(response.bytes().await?.len())
            }
        };
        run(&task, get).await
    })
}
