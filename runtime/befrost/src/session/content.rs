//! The content of a session.
//!
//! ```text
//! graph      a file, gradients and updates that are added to it, the names of a signature
//! program    a function: all its arguments are fed, any of its results fetched
//! ```

use befrost_kernel_api::{Error, ErrorCode};

use super::executable::Names;
use super::refusal::{near, refused};
use crate::compile::Source;
use crate::graph::Additions;
use crate::port::Port;
use crate::program::Function;
use crate::signature::{Signature, named};

/// The content of a session.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a session has one")]
pub(super) enum Content {
    Graph { source: Source, additions: Additions, signature: Option<Signature> },
    Program(Function),
}

impl Content {
    /// True for a graph.
    pub(super) fn is_graph(&self) -> bool {
        matches!(self, Content::Graph { .. })
    }

    /// The graph's tensor that is fed under a name: an input of the signature, or the tensor of the name.
    pub(super) fn fed<'n>(&'n self, name: &'n str) -> &'n str {
        self.signature().and_then(|signature| signature.fed(name)).unwrap_or(name)
    }

    /// The graph's tensor that is fetched under a name: an output of the signature, or the tensor of the
    /// name.
    pub(super) fn fetched<'n>(&'n self, name: &'n str) -> &'n str {
        self.signature().and_then(|signature| signature.fetched(name)).unwrap_or(name)
    }

    /// The signature of a graph.
    pub(super) fn signature(&self) -> Option<&Signature> {
        match self {
            Content::Graph { signature, .. } => signature.as_ref(),
            Content::Program(_) => None,
        }
    }
}

/// For each argument of a function the number of its feed, and for each fetch the number of its result.
///
/// # Errors
/// If there is no such argument or result, an argument is fed twice or not at all, or there is a target.
pub(super) fn places(function: &Function, names: &Names) -> Result<(Vec<usize>, Vec<Option<usize>>), Error> {
    if let Some(target) = names.targets.first() {
        let message = format!("a program has no target '{target}': its function runs as a whole");
        return Err(refused(ErrorCode::InvalidArgument, message));
    }
    let (arguments, results) = (named(function.arguments()), function.results());
    if let Some(name) = names.feeds.iter().find(|name| arguments.iter().all(|port| port.name() != *name)) {
        return Err(unknown("argument", name, &arguments));
    }
    let fed = |port: &Port| {
        let mut places = names.feeds.iter().enumerate().filter(|(_, name)| *name == port.name());
        match (places.next(), places.next()) {
            (Some((at, _)), None) => Ok(at),
            (Some(_), Some(_)) => {
                Err(refused(ErrorCode::InvalidArgument, format!("'{}' is fed twice", port.name())))
            }
            (None, _) => {
                let message = format!("argument '{}' ({}) is not fed", port.name(), port.ty());
                Err(refused(ErrorCode::InvalidArgument, message))
            }
        }
    };
    let fed = arguments.iter().map(fed).collect::<Result<Vec<_>, Error>>()?;
    // The numbers of results count chains.
    let numbers: Vec<usize> = (0..results.len()).filter(|&i| !results[i].is_chain()).collect();
    let results = named(results);
    let fetched = |name: &String| match results.iter().position(|port| port.name() == name) {
        Some(at) => Ok(Some(numbers[at])),
        None => Err(unknown("result", name, &results)),
    };
    Ok((fed, names.fetches.iter().map(fetched).collect::<Result<_, Error>>()?))
}

fn unknown(what: &str, name: &str, ports: &[Port]) -> Error {
    let names: Vec<&str> = ports.iter().map(Port::name).collect();
    let near = near(name, names.iter().copied());
    let message = format!("the function has no {what} '{name}'; it has: {}{near}", names.join(", "));
    refused(ErrorCode::NotFound, message)
}
