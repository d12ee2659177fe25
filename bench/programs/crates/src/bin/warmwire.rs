//! The task with our crate: the driver runs on a thread of its own, as by default, or with DRIVER=task beside
//! the requests.

use bench_crates::{Failure, Task, block_on, run};
use warmwire::{Certificate, Client, Tokio};

fn main() -> Result<(), Failure> {
    let task = Task::from_arguments()?;
    let mut builder = Client::builder().no_proxy();
    if task.is_secure() {
        builder = builder.add_root_certificate(Certificate::from_pem(&task.authority)?);
    }
    if task.version == 3 {
        builder = builder.http3_prior_knowledge();
    }
    block_on(async {
        let client = if std::env::var_os("DRIVER").is_some() {
            let (client, driver) = builder.build_with_driver()?;
            tokio::task::spawn_local(driver.run(Tokio));
            client
        } else {
            builder.build()?
        };
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
