//! Dataflow control flow, the primitives of TensorFlow 1, in graphs (`tf_executor`).

pub(crate) mod native;
