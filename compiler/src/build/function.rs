//! The builder with which a front end builds a function of the op graph, op by op, with inferred types.
//!
//! ```text
//! argument, constant, op ──▶ values with types, or a refusal
//! block ──enter──▶ ops ──enter──▶ ...     if_region, while_region: blocks become regions
//! checkpoint ──▶ ... ──rollback           takes back what was built since, open blocks too
//! finish ──▶ module of one function
//! ```
//!
//! A block is created detached and filled before the op that owns it, since the types of the op's results
//! follow from the values that the blocks yield. Blocks may use values of outer blocks directly.

use befrost_tensor::HostTensor;
use befrost_tensor::tf::op::{AttrKind as Kind, DefaultValue, Type, row};

use super::{Builder, query};
use crate::dialects::tf;
use crate::dialects::tf::request::{REQUEST, UNCONNECTED};
use crate::import::names_attr;
use crate::ir::{AttrKind, BlockId, DYNAMIC, LocId, LocKind, Module, NewOp, OpId, TypeId, ValueId, names};
use crate::rewrite::{Checkpoint, Rewriter};

/// A place in a file. Lines and columns count from 1; column 0 is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePlace {
    /// The file's name.
    pub file: String,
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// The element type and the dimensions of a value, -1 for unknown ones; `None` for an unknown rank.
pub type TensorShape = (Type, Option<Vec<i64>>);

/// A builder of one function. See the [module](self).
pub struct FunctionBuilder {
    module: Module,
    function: OpId,
    entry: BlockId,
    at: BlockId,
    loc: LocId,
    names: Vec<String>,
}

/// A detached block and the values that it yields.
pub type FilledBlock<'a> = (BlockId, &'a [ValueId]);

impl FunctionBuilder {
    /// A function of this name, without arguments or ops.
    pub fn new(name: &str) -> FunctionBuilder {
        let mut module = Module::new();
        let sym_name = module.cx.str_attr(name);
        let func = module.cx.op_name(names::FUNC_FUNC);
        let function = module.create(NewOp { attrs: &[(names::SYM_NAME, sym_name)], ..NewOp::new(func) });
        let body = module.body();
        module.append(body, function);
        let region = module.add_region(function);
        let entry = module.add_block(region);
        FunctionBuilder { module, function, entry, at: entry, loc: LocId::UNKNOWN, names: Vec::new() }
    }

    /// Appends an argument.
    pub fn argument(&mut self, name: &str, ty: &TensorShape) -> ValueId {
        let ty = self.type_id(ty);
        self.names.push(name.to_owned());
        self.module.add_arg(self.entry, ty)
    }

    /// Sets the location of the next ops: a place, and the places of the calls that led to it, innermost
    /// first. `label` names the location.
    pub fn set_location(&mut self, places: &[SourcePlace], label: Option<&str>) {
        let cx = &mut self.module.cx;
        let mut loc: Option<LocId> = None;
        for place in places.iter().rev() {
            let file = cx.str_id(&place.file);
            let here = cx.loc_id(LocKind::File { file, line: place.line, col: place.column });
            loc = Some(match loc {
                None => here,
                Some(caller) => cx.loc_id(LocKind::CallSite { callee: here, caller }),
            });
        }
        let mut loc = loc.unwrap_or(LocId::UNKNOWN);
        if let Some(label) = label {
            let name = cx.str_id(label);
            loc = cx.loc_id(LocKind::Name { name, child: loc });
        }
        self.loc = loc;
    }

    /// Adds an op by its operator's name. Attributes that follow from the operands may be omitted. `results`
    /// are given types that are more exact than the inferred ones.
    ///
    /// # Errors
    /// The reason why the operator refuses it.
    pub fn op(
        &mut self,
        operator: &str,
        operands: &[ValueId],
        attrs: &[(String, DefaultValue)],
        results: Option<&[TensorShape]>,
    ) -> Result<Vec<ValueId>, String> {
        let found = row(operator).and_then(|row| Some((row, row.op?)));
        let (row, operator) = found.ok_or_else(|| format!("there is no operator '{operator}'"))?;
        let results: Option<Vec<TypeId>> =
            results.map(|types| types.iter().map(|ty| self.type_id(ty)).collect());
        let mut written = Vec::with_capacity(attrs.len());
        for (name, value) in attrs {
            let declared = row.signature().attrs.iter().find(|attr| attr.name == name);
            let Some(declared) = declared else {
                return Err(format!("'{}' has no attribute '{name}'", row.signature().name));
            };
            if !is_of_kind(declared.kind, value) {
                return Err(format!("the attribute '{name}' is of kind {}", declared.kind));
            }
            written.push((name, tf::declared_attr(&mut self.module.cx, declared.kind, value)));
        }
        let op = self.with(|b| {
            let mut op = b.op(operator, operands);
            for (name, value) in written {
                op = op.attr(name, value);
            }
            if let Some(results) = &results {
                op = op.results(results);
            }
            op.build()
        });
        let op = op.map_err(|refusal| refusal.message.clone())?;
        Ok(self.module.results(op).collect())
    }

    /// A constant.
    ///
    /// # Errors
    /// If the tensor cannot be read.
    pub fn constant(&mut self, tensor: &HostTensor) -> Result<ValueId, String> {
        let attr = tf::tensor_attr(&mut self.module.cx, tensor).ok_or("the constant cannot be read")?;
        Ok(self.with(|b| b.constant(attr)))
    }

    /// A constant string.
    pub fn string(&mut self, text: &str) -> ValueId {
        let cx = &mut self.module.cx;
        let element = tf::element(cx, Type::String, false);
        let ty = tf::tensor(cx, Some(&[]), element);
        let strings = [cx.str_attr(text)].into();
        let attr = cx.attr_id(AttrKind::DenseStrings { ty, splat: false, strings });
        self.with(|b| b.constant(attr))
    }

    /// The type of a value.
    pub fn ty(&self, value: ValueId) -> Option<TensorShape> {
        let ty = self.module.value_type(value);
        let (element, _) = tf::type_of(&self.module.cx, ty)?;
        Some((element, query::partial_shape(&self.module, ty).dims()))
    }

    /// A detached block with arguments of these types.
    pub fn block(&mut self, types: &[TensorShape]) -> (BlockId, Vec<ValueId>) {
        let block = self.module.create_block();
        let args = types.iter().map(|ty| {
            let ty = self.type_id(ty);
            self.module.add_arg(block, ty)
        });
        (block, args.collect())
    }

    /// Moves the insertion point to the end of a block. Returns the previous block.
    pub fn enter(&mut self, block: BlockId) -> BlockId {
        std::mem::replace(&mut self.at, block)
    }

    /// A conditional: the first branch, if `condition` is true, or else the second.
    pub fn if_region(
        &mut self,
        condition: ValueId,
        then: FilledBlock<'_>,
        otherwise: FilledBlock<'_>,
        types: &[TensorShape],
    ) -> Vec<ValueId> {
        self.with_regions("tf.IfRegion", &[condition], &[then, otherwise], types)
    }

    /// A loop over variables: while the first block yields true, the second one makes the next values.
    pub fn while_region(
        &mut self,
        initial: &[ValueId],
        condition: FilledBlock<'_>,
        body: FilledBlock<'_>,
        types: &[TensorShape],
    ) -> Vec<ValueId> {
        self.with_regions("tf.WhileRegion", initial, &[condition, body], types)
    }

    fn with_regions(
        &mut self,
        name: &str,
        operands: &[ValueId],
        regions: &[FilledBlock<'_>],
        types: &[TensorShape],
    ) -> Vec<ValueId> {
        let types: Vec<TypeId> = types.iter().map(|ty| self.type_id(ty)).collect();
        let (m, loc) = (&mut self.module, self.loc);
        let op = m.create_named(name, operands, &types, &[]);
        m.set_loc(op, loc);
        for &(block, yielded) in regions {
            let end = m.create_named("tf.Yield", yielded, &[], &[]);
            m.set_loc(end, loc);
            m.append(block, end);
            let region = m.add_region(op);
            m.append_block(region, block);
        }
        m.append(self.at, op);
        m.results(op).collect()
    }

    /// The gradients of the sum of `y` with respect to values that it is computed from; zeros for others.
    pub fn gradients(&mut self, y: ValueId, xs: &[ValueId]) -> Vec<ValueId> {
        let types: Vec<TypeId> = xs.iter().map(|&x| self.module.value_type(x)).collect();
        let operands: Vec<ValueId> = [y].into_iter().chain(xs.iter().copied()).collect();
        let (m, loc) = (&mut self.module, self.loc);
        let n = i32::try_from(xs.len()).unwrap_or(i32::MAX);
        let sizes = m.cx.i32_array_attr(&[1, 0, n, 0]);
        let zero = m.cx.str_attr("zero");
        let attrs = [("operandSegmentSizes", sizes), (UNCONNECTED, zero)];
        let op = m.create_named(REQUEST, &operands, &types, &attrs);
        m.set_loc(op, loc);
        m.append(self.at, op);
        m.results(op).collect()
    }

    /// The state, for [`Self::rollback`].
    pub fn checkpoint(&mut self) -> (Checkpoint, BlockId) {
        let root = self.module.top();
        (Rewriter::new(&mut self.module, root).checkpoint(), self.at)
    }

    /// Erases the ops built since the checkpoint, and goes on where it was made.
    pub fn rollback(&mut self, to: (Checkpoint, BlockId)) {
        let root = self.module.top();
        Rewriter::new(&mut self.module, root).rollback(to.0);
        self.at = to.1;
    }

    /// The number of ops built so far, taken back ones too.
    pub fn n_created(&self) -> usize {
        self.module.n_op_ids()
    }

    /// Ends the function with its results and their names.
    pub fn finish(mut self, results: &[(String, ValueId)]) -> Module {
        let values: Vec<ValueId> = results.iter().map(|(_, value)| *value).collect();
        let m = &mut self.module;
        let end = m.create_named("func.return", &values, &[], &[]);
        m.append(self.entry, end);
        let inputs: Vec<TypeId> = m.args(self.entry).iter().map(|&value| m.value_type(value)).collect();
        let outputs: Vec<TypeId> = values.iter().map(|&value| m.value_type(value)).collect();
        let ty = m.cx.function_type(&inputs, &outputs);
        let ty = m.cx.type_attr(ty);
        m.set_attr(self.function, names::FUNCTION_TYPE, ty);
        let given: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let made: Vec<&str> = results.iter().map(|(name, _)| name.as_str()).collect();
        for (attr, given) in [(names::ARG_ATTRS, given), (names::RES_ATTRS, made)] {
            if !given.is_empty() {
                let value = names_attr(&mut m.cx, &given);
                m.set_attr(self.function, attr, value);
            }
        }
        let root = self.module.top();
        super::cases::form_cases(&mut Rewriter::new(&mut self.module, root));
        self.module
    }

    /// Calls `act` with a builder at the end of the block.
    fn with<R>(&mut self, act: impl FnOnce(&mut Builder<'_, '_>) -> R) -> R {
        let (at, loc, root) = (self.at, self.loc, self.module.top());
        act(&mut Builder::at_end(&mut Rewriter::new(&mut self.module, root), at, loc))
    }

    fn type_id(&mut self, (element, dims): &TensorShape) -> TypeId {
        let cx = &mut self.module.cx;
        let element = tf::element(cx, *element, false);
        let dims: Option<Vec<i64>> =
            dims.as_ref().map(|dims| dims.iter().map(|&dim| if dim < 0 { DYNAMIC } else { dim }).collect());
        tf::tensor(cx, dims.as_deref(), element)
    }
}

/// True for a value that an attribute of this kind may have.
fn is_of_kind(kind: Kind, value: &DefaultValue) -> bool {
    match (kind, value) {
        (Kind::List(kind), DefaultValue::List(items)) => items.iter().all(|item| is_of_kind(*kind, item)),
        (Kind::Type, DefaultValue::Type(_))
        | (Kind::Int, DefaultValue::Int(_))
        | (Kind::Float, DefaultValue::Float(_))
        | (Kind::Bool, DefaultValue::Bool(_))
        | (Kind::String, DefaultValue::String(_))
        | (Kind::Shape, DefaultValue::Shape(_)) => true,
        _ => false,
    }
}
