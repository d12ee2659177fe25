//! The task with ureq, whose requests block: a thread for each that runs at once.

use bench_crates::{Failure, Task, in_threads};
use ureq::Agent;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

fn get(agent: &Agent, task: &Task) -> Result<usize, Failure> {
    let mut response = agent.get(&task.url).call()?;
    task.check(response.version())?;
    Ok(response.body_mut().read_to_vec()?.len())
}

fn main() -> Result<(), Failure> {
    let task = Task::from_arguments()?;
    let certificates: Vec<Certificate<'static>> = parse_pem(&task.authority)
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        })
        .collect();
    let tls = TlsConfig::builder().root_certs(RootCerts::new_with_certs(&certificates)).build();
    let agent: Agent = Agent::config_builder()
        .tls_config(tls)
        .proxy(None)
        .max_idle_connections(task.at_once)
        .max_idle_connections_per_host(task.at_once)
        .build()
        .into();
    in_threads(&task, || get(&agent, &task))
}
