//! `tf.Example`: records of named features in training data.

use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::object::Object;
use befrost_kernel_api::{KernelError, Registry, kernel};
use prost::Message;

use self::proto::feature::Kind;
use crate::objects::Text;

#[allow(
    missing_docs,
    clippy::all,
    unreachable_pub,
    clippy::pedantic,
    reason = "generated, see example.proto"
)]
#[path = "proto/example.rs"]
mod proto;

/// A `!tfrt_test.proto_example`.
#[derive(Debug)]
struct Example(proto::Example);

impl Object for Example {
    const TYPES: &'static [&'static str] = &["!tfrt_test.proto_example"];

    fn display(&self) -> String {
        let names: Vec<&str> = self.features().map(|(name, _)| name.as_str()).collect();
        format!("example of {}", names.join(", "))
    }
}

impl Example {
    fn features(&self) -> impl Iterator<Item = (&String, &proto::Feature)> {
        self.0.features.iter().flat_map(|features| &features.feature)
    }

    /// The only value of a feature; `values` selects its kind.
    fn single_value<'e, T>(
        &'e self,
        key: &Text,
        what: &str,
        values: impl FnOnce(&'e Kind) -> Option<&'e [T]>,
    ) -> Result<&'e T, KernelError> {
        let name = key.text();
        let Some((_, feature)) = self.features().find(|(found, _)| found.as_bytes() == &*key.0) else {
            let message = format!("key {name} is not found in the proto");
            return Err(KernelError::new(ErrorCode::NotFound, message));
        };
        match feature.kind.as_ref().and_then(values) {
            Some([value]) => Ok(value),
            Some(values) => {
                let n = values.len();
                Err(KernelError::invalid(format!("feature {name} has {n} values, not exactly one")))
            }
            None => Err(KernelError::invalid(format!("feature {name} is not a list of {what}"))),
        }
    }
}

pub(super) fn add(registry: &mut Registry) {
    registry.add(kernel!("tfrt_test.parse_example_from_bytes", |data: &Text| {
        let example = proto::Example::decode(&*data.0);
        example
            .map(Example)
            .map_err(|error| KernelError::invalid(format!("cannot parse an example: {error}")))
    }));
    registry.add(kernel!("tfrt_test.get_bytes_field_from_example", |example: &Example, key: &Text| {
        example.single_value(key, "bytes", bytes).map(|bytes| Text(bytes.as_slice().into()))
    }));
    registry.add(kernel!("tfrt_test.get_int64_field_from_example", |example: &Example, key: &Text| {
        example.single_value(key, "int64", numbers).copied()
    }));
}

fn bytes(kind: &Kind) -> Option<&[Vec<u8>]> {
    match kind {
        Kind::BytesList(list) => Some(&list.value),
        Kind::FloatList(_) | Kind::Int64List(_) => None,
    }
}

fn numbers(kind: &Kind) -> Option<&[i64]> {
    match kind {
        Kind::Int64List(list) => Some(&list.value),
        Kind::BytesList(_) | Kind::FloatList(_) => None,
    }
}
