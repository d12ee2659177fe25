//! The task with our crate: its futures in tokio, where the client has a task of its own by default, or with
//! DRIVER=task one of the program's; or with THREADS set, requests that block, a thread for each at once.

use bench_crates::{Failure, Task, block_on, in_threads, run};
use warmwire::{Certificate, Client, Tokio, blocking};

/// Makes the settings of the task in a builder of either face.
macro_rules! configure {
    ($builder:expr, $task:expr) => {{
        let mut builder = $builder.no_proxy();
        if $task.is_secure() {
            builder = builder.add_root_certificate(Certificate::from_pem(&$task.authority)?);
        }
        if $task.version == 3 {
            builder = builder.http3_prior_knowledge();
        }
        builder
    }};
}

fn main() -> Result<(), Failure> {
    let task = Task::from_arguments()?;
    if std::env::var_os("THREADS").is_some() {
        let client = configure!(blocking::Client::builder(), task).build()?;
        return in_threads(&task, || {
            let response = client.get(&task.url).send()?.error_for_status()?;
            task.check(response.version())?;
            Ok(response.bytes()?.len())
        });
    }
    let builder = configure!(Client::builder(), task);
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
