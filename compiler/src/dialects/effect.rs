//! Effects of ops: the one vocabulary of all dialects and passes.
//!
//! A dialect whose kernels take chains orders effects by operands. The op graph has no chains: its ops have
//! effects on [`EffectResource::State`], in the order of the program, until `tf-to-kernels` makes chains of
//! it. The queries of passes are in `rewrite/effects.rs`.

/// The resource that an effect applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectResource {
    /// The buffer of operand number `0`.
    Operand(u8),
    /// The buffer of result number `0`.
    Result(u8),
    /// The output of the program.
    Output,
    /// The execution context (cancellation, resources).
    ExecutionContext,
    /// State of the op graph: the resources among the operands, or all state if no operand is one. The order
    /// of ops in the program orders its effects, where chains order those on other resources.
    State,
}

/// Kind of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read.
    Read,
    /// Written.
    Write,
    /// Allocated.
    Alloc,
    /// Freed.
    Free,
}

/// One effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The resource.
    pub on: EffectResource,
    /// The kind.
    pub access: Access,
}

/// All effects of an op.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Effects {
    /// Unknown: anything must be assumed.
    #[default]
    Unknown,
    /// None: the op may be removed if its results are unused. (A kernel that may fail is pure too: errors are
    /// values.)
    Pure,
    /// The effects of the ops in its regions.
    Recursive,
    /// The effects of the functions that it refers to.
    OfCallees,
    /// Exactly these.
    List(Vec<Effect>),
}

impl Effects {
    /// Whether there are none but the allocation of results, which nothing has to wait for.
    pub fn are_allocations(&self) -> bool {
        match self {
            Effects::Pure => true,
            Effects::Unknown | Effects::Recursive | Effects::OfCallees => false,
            Effects::List(effects) => effects.iter().all(|effect| {
                matches!((effect.access, effect.on), (Access::Alloc, EffectResource::Result(_)))
            }),
        }
    }

    /// True if there are some, and all are reads.
    pub fn are_reads(&self) -> bool {
        matches!(self, Effects::List(effects) if effects.iter().all(|effect| effect.access == Access::Read))
    }

    /// The access to the state of the op graph; `None` if there is none, or only in regions and callees.
    /// Reads are ordered after writes, writes after all.
    pub fn of_state(&self) -> Option<Access> {
        let Effects::List(effects) = self else { return None };
        let of_state = effects.iter().filter(|effect| effect.on == EffectResource::State);
        let strongest = |a, b| if a == Access::Read { b } else { a };
        of_state.map(|effect| effect.access).reduce(strongest)
    }
}
