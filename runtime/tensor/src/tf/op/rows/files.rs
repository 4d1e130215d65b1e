//! Checkpoint files: saving, restoring, merging and names. The kernels access only folders that the caller
//! allows.

use super::super::infer::rules;
use super::super::row::{Cost, Effect, state, values};
use super::operators::operators;

operators! { 21:
    /// The partial checkpoints of several files merged into one checkpoint.
    MergeV2Checkpoints
        "!checkpoint_prefixes:string destination_prefix:string ->; allow_missing_files:bool=false \
         delete_old_dirs:bool=true"
        => state(Effect::Write, rules::unknown, Cost::Moves).no_gradient();
    /// Tensors read from a checkpoint by name.
    RestoreV2
        "!prefix:string tensor_names:string shape_and_slices:string -> tensors:*dtypes; dtypes:list(type)"
        => state(Effect::Read, rules::unknown, Cost::Moves).no_gradient();
    /// Tensors written to a checkpoint by name.
    SaveV2
        "!prefix:string tensor_names:string shape_and_slices:string tensors:*dtypes ->; dtypes:list(type)"
        => state(Effect::Write, rules::unknown, Cost::Moves).no_gradient();
    /// The name of one of the files of a checkpoint.
    ShardedFilename "basename:string shard:int32 num_shards:int32 -> filename:string;"
        => values(rules::scalar, Cost::PerOperand(64)).no_gradient();
    /// The pattern that the names of all files of a checkpoint match.
    ShardedFilespec "basename:string num_shards:int32 -> filename:string;"
        => values(rules::scalar, Cost::PerOperand(64)).no_gradient();
}
