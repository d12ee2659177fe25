//! The task with isahc, which runs libcurl on a thread of its own.

use bench_crates::{Failure, Task, block_on, run};
use isahc::prelude::*;

fn main() -> Result<(), Failure> {
    let task = Task::from_arguments()?;
    block_on(async {
        let client = isahc::HttpClient::new()?;
        let task = std::rc::Rc::new(task);
        let of = task.clone();
        let get = move || {
            let (client, task) = (client.clone(), of.clone());
            async move {
                let mut response = client.get_async(&task.url).await?;
                task.check(response.version())?;
                if !response.status().is_success() {
                    return Err(response.status().to_string().into());
                }
                Ok(response.bytes().await?.len())
            }
        };
        run(&task, get).await
    })
}
