//! Traits of ops, as a set of bits.

/// A set of op traits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Traits(u32);

macro_rules! traits {
    ($($(#[$meta:meta])* $name:ident = $bit:literal $text:literal,)*) => {
        impl Traits {
            $($(#[$meta])* pub const $name: Traits = Traits(1 << $bit);)*

            /// The names of the traits in this set, for documentation.
            pub fn names(self) -> Vec<&'static str> {
                [$((Traits::$name, $text),)*].into_iter().filter(|(t, _)| self.has(*t)).map(|(_, n)| n).collect()
            }
        }
    };
}
traits! {
    /// Ends a block.
    TERMINATOR = 0 "terminator",
    /// Has a symbol name (`sym_name`).
    SYMBOL = 1 "symbol",
    /// Its regions form a symbol table.
    SYMBOL_TABLE = 2 "symbol table",
    /// Its regions cannot use values from outside.
    ISOLATED = 3 "isolated from above",
    /// The order of two operands does not matter.
    COMMUTATIVE = 4 "commutative",
    /// All operands and results have one type.
    SAME_TYPE = 5 "same operand and result types",
    /// A constant: no operands; the attribute `value` is its result.
    CONSTANT = 6 "constant",
    /// Its regions need no terminator.
    NO_TERMINATOR = 7 "no terminator",
    /// Its regions have exactly one block.
    SINGLE_BLOCK = 8 "single block",
    /// A function: `function_type`, and a body or none.
    FUNCTION = 9 "function",
    /// Calls a function whose types are those of its operands and results.
    CALL = 10 "call",
    /// Returns its operands from the enclosing function.
    RETURN = 11 "return",
    /// Applying it twice is the same as once.
    IDEMPOTENT = 12 "idempotent",
    /// Its regions run any number of times, possibly zero.
    LOOP = 13 "loop",
    /// A terminator that passes operands to its successors: see [`crate::ir::Module::successor_operands`].
    BRANCH = 14 "branch",
    /// Passes its operands to the parent op.
    YIELD = 15 "yield",
    /// All operands have one type.
    SAME_OPERANDS = 16 "same operand types",
    /// Several declared operands are optional or variadic: `operandSegmentSizes` holds the number of values
    /// for each one.
    OPERAND_SEGMENTS = 17 "operand segments",
    /// Results are no errors if no operand is one.
    TOTAL = 24 "never fails",
    /// Undefined for some operands, including zero as the second one: must not be speculated.
    TRAPS = 25 "undefined for some operands",
    /// Its result has the type of its operand, whatever that becomes.
    PASSES_TYPE = 27 "has the type of its operand",
    /// The ops directly in its regions may be dead: an op is not replaced by one with fewer operands.
    DATAFLOW = 26 "dataflow graph",
}

impl Traits {
    /// No traits.
    pub const NONE: Traits = Traits(0);

    /// True if all of `other` are in this set.
    #[inline]
    pub const fn has(self, other: Traits) -> bool {
        self.0 & other.0 == other.0
    }

    /// The union of both sets.
    #[must_use]
    pub const fn and(self, other: Traits) -> Traits {
        Traits(self.0 | other.0)
    }
}
