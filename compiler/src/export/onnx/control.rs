//! Control flow: `If` with graphs as branches, and `Loop`.
//!
//! ```text
//! cond(args) ─┐
//!             ▼
//! Loop("", go, args): (at, _, vars) ─▶ next = body(vars);  cond(next), next
//! ```
//!
//! `If` and the first condition see the values around them; the body of a loop has its variables as inputs.

use befrost_tensor::DType;

use super::emit::{AttrValue, Name, WhyNot};
use super::node::TfNode;
use super::{ModelWriter, tensor};
use crate::import::onnx_proto::{GraphProto, TensorShapeProto, ValueInfoProto};
use crate::ir::{AttrKind, StrId, TypeId, ValueId};

impl ModelWriter<'_> {
    /// The outputs of a subgraph, or its inputs: names with the element types of these types.
    fn ports(&self, names: &[Name], types: &[TypeId]) -> Vec<ValueInfoProto> {
        let port = |(name, &ty): (&Name, &TypeId)| match tensor::element_code(self.m(), ty) {
            Some(code) => tensor::of_type(name, code, None),
            // Lists: the runtime finds their type.
            None => ValueInfoProto { name: name.clone(), r#type: None },
        };
        names.iter().zip(types).map(port).collect()
    }

    fn types(&self, values: impl Iterator<Item = ValueId>) -> Vec<TypeId> {
        values.map(|value| self.m().value_type(value)).collect()
    }

    /// A branch: a graph without inputs that `act` writes.
    fn branch(
        &mut self,
        name: &str,
        types: &[TypeId],
        act: impl FnOnce(&mut Self) -> Result<Vec<Name>, WhyNot>,
    ) -> Result<GraphProto, WhyNot> {
        let (output, node) = self.within(|s| {
            let results = act(s)?;
            Ok::<_, WhyNot>(s.outputs(&results))
        });
        let output = self.ports(&output?, types);
        Ok(GraphProto { node, name: name.to_owned(), output, ..GraphProto::default() })
    }

    pub(super) fn if_(&mut self, n: &TfNode<'_>) -> Result<Vec<Name>, WhyNot> {
        let (then, otherwise) = (n.callee("then_branch")?, n.callee("else_branch")?);
        let condition = self.truth(n.input(0)?, n.value(0)?)?;
        let types = self.types(n.m.results(n.op).take(n.n_results()));
        self.selected(
            &condition,
            &types,
            |s| s.call(then, &n.inputs[1..]),
            |s| s.call(otherwise, &n.inputs[1..]),
        )
    }

    /// The results of one of two branches.
    fn selected(
        &mut self,
        condition: &str,
        types: &[TypeId],
        then: impl FnOnce(&mut Self) -> Result<Vec<Name>, WhyNot>,
        otherwise: impl FnOnce(&mut Self) -> Result<Vec<Name>, WhyNot>,
    ) -> Result<Vec<Name>, WhyNot> {
        let stem = self.w.stem.clone();
        let then = self.branch("then", types, then);
        let otherwise = self.branch("else", types, otherwise);
        self.w.stem = stem;
        let attrs =
            vec![("then_branch", AttrValue::Graph(then?)), ("else_branch", AttrValue::Graph(otherwise?))];
        if types.is_empty() {
            // Without results and effects there is nothing to run.
            return Ok(Vec::new());
        }
        Ok(self.w.node_of("", "If", &[condition], attrs, types.len()))
    }

    /// `Case`: the branch of a number, the last one for a number out of range.
    pub(super) fn case(&mut self, n: &TfNode<'_>) -> Result<Vec<Name>, WhyNot> {
        let attr = n.m.attr_named(n.op, "branches").map(|attr| n.m.cx.attr(attr));
        let Some(AttrKind::Array(items)) = attr else { return Err("it has no branches".to_owned()) };
        let mut branches = Vec::new();
        for &item in &items[..] {
            match n.m.cx.attr(item) {
                AttrKind::Symbol { root, nested } if nested.is_empty() => branches.push(*root),
                _ => return Err("a branch is no function of the module".to_owned()),
            }
        }
        let types = self.types(n.m.results(n.op).take(n.n_results()));
        self.one_of(n, &branches, 0, &types)
    }

    fn one_of(
        &mut self,
        n: &TfNode<'_>,
        branches: &[StrId],
        at: usize,
        types: &[TypeId],
    ) -> Result<Vec<Name>, WhyNot> {
        match branches {
            [] => Err("it has no branches".to_owned()),
            [last] => self.call(*last, &n.inputs[1..]),
            [first, rest @ ..] => {
                if at >= super::MAX_DEPTH {
                    return Err(format!("more than {} branches", super::MAX_DEPTH));
                }
                let number = self.w.scalar(at as f64, n.dtype(0)?)?;
                let is_first = self.w.op("Equal", &[n.input(0)?, &number]);
                self.selected(
                    &is_first,
                    types,
                    |s| s.call(*first, &n.inputs[1..]),
                    |s| s.one_of(n, rest, at + 1, types),
                )
            }
        }
    }

    pub(super) fn while_(&mut self, n: &TfNode<'_>) -> Result<Vec<Name>, WhyNot> {
        let (cond, body) = (n.callee("cond")?, n.callee("body")?);
        let m = self.m();
        let function = self.w.walk.functions.get(&cond).copied().ok_or("its condition is no function")?;
        let block = m.only_block(function).ok_or("its condition has no operators")?;
        let [predicate] = self.w.walk.returned(block)[..] else {
            return Err("its condition has not one result".to_owned());
        };
        let stem = self.w.stem.clone();
        let go = |s: &mut Self, args: &[Name]| -> Result<Name, WhyNot> {
            let found = s.call(cond, args)?;
            s.truth(found.first().ok_or("its condition has no result")?, predicate)
        };
        // The condition is written twice, so that it counts as a function with several uses.
        *self.functions.uses.entry(cond).or_default() += 1;
        let first = go(self, &n.inputs)?;
        let types = self.types(n.m.results(n.op).take(n.n_results()));
        let mut fresh = |name: &str| self.w.names.unique(format!("{stem}/{name}"));
        let (at, before) = (fresh("at"), fresh("go"));
        let variables: Vec<Name> = types.iter().map(|_| fresh("variable")).collect();
        let (output, node) = self.within(|s| {
            let next = s.call(body, &variables)?;
            let mut results = vec![go(s, &next)?];
            results.extend(next);
            Ok::<_, WhyNot>(s.outputs(&results))
        });
        let output = output?;
        self.w.stem = stem;
        let scalar =
            |name: &str, dtype| tensor::of_type(name, tensor::code(dtype), Some(TensorShapeProto::default()));
        let mut inputs = vec![scalar(&at, DType::I64), scalar(&before, DType::I1)];
        inputs.extend(self.ports(&variables, &types));
        let mut outputs = vec![scalar(&output[0], DType::I1)];
        outputs.extend(self.ports(&output[1..], &types));
        let body = GraphProto {
            node,
            name: "body".to_owned(),
            input: inputs,
            output: outputs,
            ..Default::default()
        };
        let operands: Vec<&str> = ["", &first].into_iter().chain(n.all()).collect();
        if types.is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.w.node_of("", "Loop", &operands, vec![("body", AttrValue::Graph(body))], types.len()))
    }
}
