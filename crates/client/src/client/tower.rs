//! A client as a service of tower: layers for retries, limits and traces go around it.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tower_service::Service;

use super::{Client, Error, Request, Response};

/// A response to come.
type Pending = Pin<Box<dyn Future<Output = Result<Response, Error>> + Send>>;

/// A client is always ready: requests beyond a limit of connections wait for themselves.
impl Service<Request> for Client {
    type Response = Response;
    type Error = Error;
    type Future = Pending;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Pending {
        (&*self).call(request)
    }
}

/// A shared reference is a service, too.
impl Service<Request> for &Client {
    type Response = Response;
    type Error = Error;
    type Future = Pending;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Pending {
        let client = (*self).clone();
        Box::pin(async move { client.execute(request).await })
    }
}
