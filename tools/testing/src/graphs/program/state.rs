//! Steps with state, lists, variants, checks and control edges, and ops that fail.

use super::{
    BOOL, CHAIN, FunctionBody, INT, ListValue, Module, NAMED, RESOURCE, Typed, VARIANT, VariableValue, names,
    strs, types,
};
use crate::graphs::GraphMode;

impl FunctionBody {
    fn element_dtype(&self) -> &'static str {
        self.graph.element()
    }

    /// The type of a reference to a variable of this shape.
    fn ref_type(&self, dims: &[usize]) -> String {
        let dims: String = dims.iter().map(|dim| format!("{dim}x")).collect();
        let name = if self.graph.mode == GraphMode::Integers { "int32" } else { "f32" };
        format!("tensor<{dims}!tf_type.{name}ref>")
    }

    fn handle_type(&self, of: &VariableValue) -> String {
        if of.is_ref { self.ref_type(&of.dims) } else { RESOURCE.to_owned() }
    }

    /// Adds the op that makes a variable: shared under a numbered name, or owned by the op.
    fn new_variable(&mut self, name: Option<usize>, is_ref: bool) -> VariableValue {
        let dims = match name {
            Some(name) => NAMED[name % NAMED.len()].to_vec(),
            None => self.graph.some().dims,
        };
        let shape = self.shape_attr(&dims);
        let stem = if is_ref { "r" } else { "v" };
        let shared = name.map_or_else(String::new, |name| format!(", shared_name = \"{stem}{name}\""));
        let attrs = format!("dtype = {}, shape = {shape}{shared}", self.element_dtype());
        let op = if is_ref { "VariableV2" } else { "VarHandleOp" };
        let mut made = VariableValue { name: String::new(), dims, is_ref };
        let ty = self.handle_type(&made);
        made.name = self.effect(op, &[], &attrs, &[&ty]).remove(0);
        self.scope.variables.push(made.clone());
        made
    }

    /// Adds the named variables, and initializes most of them.
    pub(super) fn named(&mut self, module: &mut Module) {
        for name in 0..NAMED.len() {
            let made = self.new_variable(Some(name), false);
            if self.chance(85) {
                self.write(&made, "Assign");
            }
        }
        if self.chance(30) {
            self.variable(module);
        }
    }

    fn handle(of: &VariableValue, ty: String) -> Typed {
        (of.name.clone(), ty)
    }

    /// Assigns to a variable, or adds to it.
    fn write(&mut self, of: &VariableValue, kind: &str) {
        let x = self.of_dims(&of.dims);
        let ty = self.handle_type(of);
        let handle = FunctionBody::handle(of, ty.clone());
        if of.is_ref {
            let made = self.effect(kind, &[handle, x], "", &[&ty]);
            if self.chance(50) {
                self.scope.variables.push(VariableValue { name: made[0].clone(), ..of.clone() });
            }
        } else {
            self.effect(&format!("{kind}VariableOp"), &[handle, x], "", &[]);
        }
    }

    fn read(&mut self, of: &VariableValue) {
        let (ty, to) = (self.handle_type(of), self.ty(&of.dims));
        let op = if of.is_ref { "_ReadRef" } else { "ReadVariableOp" };
        let made = self.effect(op, &[FunctionBody::handle(of, ty)], "", &[&to]);
        self.push(made[0].clone(), &of.dims);
    }

    /// Reads some variables at the end, so that the results depend on what was written.
    pub(super) fn read_some(&mut self) {
        for _ in 0..2 {
            let all = &self.scope.variables;
            let at = all.len().saturating_sub(1);
            let at = self.below(at + 1);
            if let Some(variable) = self.scope.variables.get(at).cloned() {
                self.read(&variable);
            }
        }
    }

    pub(super) fn variable(&mut self, _: &mut Module) {
        let n = self.scope.variables.len();
        if n == 0 || self.chance(12) {
            // In a function a variable has a name: inlining would turn an unnamed one into one per call.
            let is_named = self.depth > 0 || self.chance(60);
            let name = if is_named { Some(self.below(NAMED.len())) } else { None };
            let is_ref = self.chance(30);
            let made = self.new_variable(name, is_ref);
            if name.is_none() || is_ref {
                self.write(&made, "Assign");
            }
            return;
        }
        let at = self.below(n);
        let of = self.scope.variables[at].clone();
        match self.below(10) {
            0..3 => self.read(&of),
            3..5 => self.write(&of, "Assign"),
            5..7 => {
                let kind = self.graph.dice.pick(&["AssignAdd", "AssignSub"]);
                self.write(&of, kind);
            }
            7 if !of.dims.is_empty() => self.scatter(&of),
            8 if !of.dims.is_empty() && !of.is_ref => self.gather(&of),
            _ => {
                let ty = self.handle_type(&of);
                let op = if of.is_ref { "IsVariableInitialized" } else { "VarIsInitializedOp" };
                let made = self.effect(op, &[FunctionBody::handle(&of, ty)], "", &[BOOL]);
                self.scope.conditions.push((made[0].clone(), BOOL));
            }
        }
    }

    /// Row indices, rarely one beyond the last row.
    fn rows(&mut self, dims: &[usize]) -> Vec<i64> {
        let limit = dims[0] + usize::from(self.chance(4));
        (0..1 + self.below(2)).map(|_| self.below(limit) as i64).collect()
    }

    fn scatter(&mut self, of: &VariableValue) {
        let rows = self.rows(&of.dims);
        let dims: Vec<usize> = std::iter::once(rows.len()).chain(of.dims[1..].iter().copied()).collect();
        // Several updates of one row have no defined order; additions commute.
        let kind = if rows.len() > 1 && rows[0] == rows[1] { "Add" } else { "Update" };
        let kind = if self.chance(50) { "Add" } else { kind };
        let (indices, updates, ty) = (self.vector(&rows), self.of_dims(&dims), self.handle_type(of));
        let operands = [FunctionBody::handle(of, ty.clone()), indices, updates];
        match of.is_ref {
            true => self.effect(&format!("Scatter{kind}"), &operands, "", &[&ty]),
            false => self.effect(&format!("ResourceScatter{kind}"), &operands, "", &[]),
        };
    }

    fn gather(&mut self, of: &VariableValue) {
        let rows = self.rows(&of.dims);
        let dims: Vec<usize> = std::iter::once(rows.len()).chain(of.dims[1..].iter().copied()).collect();
        let (indices, ty) = (self.vector(&rows), self.ty(&dims));
        let handle = FunctionBody::handle(of, RESOURCE.to_owned());
        let made = self.effect("ResourceGather", &[handle, indices], "", &[&ty]);
        self.push(made[0].clone(), &dims);
    }

    pub(super) fn list(&mut self) {
        let variant = |name: &str| (name.to_owned(), VARIANT.to_owned());
        if self.scope.lists.is_empty() || self.chance(20) {
            if self.scope.lists.len() < 3 {
                self.new_list();
            }
            return;
        }
        let at = self.below(self.scope.lists.len());
        let ListValue { name, dims, len } = self.scope.lists[at].clone();
        let (list, ty) = (variant(&name), self.ty(&dims));
        match self.below(9) {
            0..2 => {
                let x = self.of_dims(&dims);
                let made = self.op("TensorListPushBack", &[list, x], "", &[VARIANT]);
                self.scope.lists[at] = ListValue { name: made[0].clone(), dims, len: len + 1 };
            }
            2 if len > 0 || self.chance(5) => {
                let shape = self.shape(&dims);
                let made = self.op("TensorListPopBack", &[list, shape], "", &[VARIANT, &ty]);
                self.push(made[1].clone(), &dims);
                self.scope.lists[at] = ListValue { name: made[0].clone(), dims, len: len.saturating_sub(1) };
            }
            3..5 if len > 0 => {
                let beyond = usize::from(self.chance(4));
                let i = self.below(len + beyond) as i64;
                let (i, shape) = (self.int(i), self.shape(&dims));
                let made = self.op("TensorListGetItem", &[list, i, shape], "", &[&ty]);
                self.push(made[0].clone(), &dims);
            }
            5 if len > 0 => {
                let i = self.below(len) as i64;
                let (i, x) = (self.int(i), self.of_dims(&dims));
                let made = self.op("TensorListSetItem", &[list, i, x], "", &[VARIANT]);
                self.scope.lists[at] = ListValue { name: made[0].clone(), dims, len };
            }
            6 | 7 if len > 0 => {
                let all: Vec<usize> = std::iter::once(len).chain(dims.iter().copied()).collect();
                let (shape, ty) = (self.vector_of(&dims), self.ty(&all));
                let attrs =
                    if self.chance(50) { format!("num_elements = {len} : i64") } else { String::new() };
                let made = self.op("TensorListStack", &[list, shape], &attrs, &[&ty]);
                self.push(made[0].clone(), &all);
            }
            _ => {
                let made = self.op("TensorListLength", &[list], "", &[INT]);
                self.scope.conditions.push((made[0].clone(), INT));
            }
        }
    }

    fn vector_of(&mut self, dims: &[usize]) -> Typed {
        let dims: Vec<i64> = dims.iter().map(|&dim| dim as i64).collect();
        self.vector(&dims)
    }

    fn new_list(&mut self) {
        let x = self.graph.some();
        let attrs = format!("element_dtype = {}", self.element_dtype());
        let (made, dims, len) = match self.below(3) {
            0 if x.dims.len() > 1 => {
                let (dims, operand) = (x.dims[1..].to_vec(), self.typed(&x));
                let shape = self.shape(&dims);
                (self.op("TensorListFromTensor", &[operand, shape], "", &[VARIANT]), dims, x.dims[0])
            }
            1 => {
                let (shape, n) = (self.vector_of(&x.dims), self.below(3));
                let size = self.int(n as i64);
                (self.op("TensorListReserve", &[shape, size], &attrs, &[VARIANT]), x.dims, n)
            }
            _ => {
                let (shape, max) = (self.shape(&x.dims), self.int(-1));
                (self.op("EmptyTensorList", &[shape, max], &attrs, &[VARIANT]), x.dims, 0)
            }
        };
        self.scope.lists.push(ListValue { name: made[0].clone(), dims, len });
    }

    /// A stack: values are pushed, and popped again. Rarely there is one pop too many.
    pub(super) fn stack(&mut self) {
        let max = self.int(-1);
        let attrs = format!("elem_type = {}", self.element_dtype());
        let made = self.effect("StackV2", &[max], &attrs, &[RESOURCE]);
        let stack = (made[0].clone(), RESOURCE.to_owned());
        let values = self.two();
        for x in &values {
            let (x, ty) = (self.typed(x), self.ty(&x.dims));
            self.effect("StackPushV2", &[stack.clone(), x], "", &[&ty]);
        }
        let n = values.len() + usize::from(self.chance(4));
        for x in values.iter().rev().chain(&values).take(n) {
            let ty = self.ty(&x.dims);
            let made = self.effect("StackPopV2", std::slice::from_ref(&stack), "", &[&ty]);
            self.push(made[0].clone(), &x.dims);
        }
    }

    /// A `TensorArray`: elements are written, and read again.
    pub(super) fn array(&mut self) {
        let x = self.graph.some();
        let (n, ty) = (2 + self.below(2), self.ty(&x.dims));
        let (size, shape) = (self.int(n as i64), self.shape_attr(&x.dims));
        let attrs =
            format!("dtype = {}, element_shape = {shape}, clear_after_read = false", self.element_dtype());
        let flow_type = "tensor<f32>".to_owned();
        let made = self.effect("TensorArrayV3", &[size], &attrs, &[RESOURCE, &flow_type]);
        let (array, mut flow) =
            ((made[0].clone(), RESOURCE.to_owned()), (made[1].clone(), flow_type.clone()));
        // A second write is an error. An element that is not written is an error or reads as zeros.
        let n_written = n - usize::from(self.chance(20));
        for i in (0..n_written).chain(std::iter::repeat_n(0, usize::from(self.chance(4)))) {
            let (i, x) = (self.int(i as i64), self.of_dims(&x.dims));
            let operands = [array.clone(), i, x, flow];
            let made = self.effect("TensorArrayWriteV3", &operands, "", &[&flow_type]);
            flow = (made[0].clone(), flow_type.clone());
        }
        if self.chance(50) {
            let i = self.below(n) as i64;
            let i = self.int(i);
            let made = self.effect("TensorArrayReadV3", &[array, i, flow], "", &[&ty]);
            return self.push(made[0].clone(), &x.dims);
        }
        let all: Vec<usize> = std::iter::once(n).chain(x.dims.iter().copied()).collect();
        let order: Vec<i64> = (0..n as i64).rev().collect();
        let (indices, ty) = (self.vector(&order), self.ty(&all));
        let made = self.effect("TensorArrayGatherV3", &[array, indices, flow], "", &[&ty]);
        self.push(made[0].clone(), &all);
    }

    pub(super) fn optional(&mut self) {
        let values = self.two();
        let operands: Vec<Typed> = values.iter().map(|x| self.typed(x)).collect();
        let is_none = self.chance(15);
        let made = match is_none {
            true => self.op("OptionalNone", &[], "", &[VARIANT]),
            false => self.op("OptionalFromValue", &operands, "", &[VARIANT]),
        };
        let optional = (made[0].clone(), VARIANT.to_owned());
        let has = self.op("OptionalHasValue", std::slice::from_ref(&optional), "", &[BOOL]);
        self.scope.conditions.push((has[0].clone(), BOOL));
        if !is_none || self.chance(15) {
            let shapes: Vec<String> = values.iter().map(|x| self.shape_attr(&x.dims)).collect();
            let attrs = format!("output_shapes = [{}]", shapes.join(", "));
            let types = self.types(&values);
            let made = self.op("OptionalGetValue", &[optional], &attrs, &strs(&types));
            self.results(&made, &values);
        }
    }

    /// An assertion, which mostly holds, a printed line, or a `CheckNumerics`.
    pub(super) fn check(&mut self) {
        let x = self.graph.some();
        match self.below(3) {
            0 => {
                let (zero, n) = (self.int(0), ("%n".to_owned(), INT.to_owned()));
                let op = if self.chance(92) { "GreaterEqual" } else { "Less" };
                let holds = self.op(op, &[n, zero], "", &[BOOL]);
                let operands = [(holds[0].clone(), BOOL.to_owned()), self.typed(&x)];
                self.effect("Assert", &operands, "", &[]);
            }
            1 if self.graph.mode != GraphMode::Integers => {
                let (operand, ty) = (self.typed(&x), self.ty(&x.dims));
                let made = self.effect("CheckNumerics", &[operand], "message = \"seen\"", &[&ty]);
                self.push(made[0].clone(), &x.dims);
            }
            _ => {
                let (text, name) = (self.graph.n_names, self.graph.name());
                let ty = "tensor<!tf_type.string>";
                self.graph.line(format_args!(
                    "  {name} = \"tf.Const\"() {{value = dense<\"line {text}\"> : {ty}}} : () -> {ty}\n"
                ));
                let attrs = "output_stream = \"stdout\"";
                self.effect("PrintV2", &[(name, ty.to_owned())], attrs, &[]);
            }
        }
    }

    /// A control edge: the completion of an `Identity`, or a `NoOp` that joins several edges.
    pub(super) fn edge(&mut self) {
        let x = self.graph.some();
        if self.chance(50) && !self.scope.edges.is_empty() {
            let edges: Vec<Typed> =
                self.scope.edges.iter().take(3).map(|name| (name.clone(), CHAIN.to_owned())).collect();
            let name = self.graph.name();
            let (names, types) = (names(&edges), types(&edges));
            self.graph.line(format_args!("  {name} = \"tf.NoOp\"({names}) : ({types}) -> {CHAIN}\n"));
            return self.scope.edges.push(name);
        }
        let (operand, ty) = (self.typed(&x), self.ty(&x.dims));
        let name = self.graph.name();
        self.graph
            .line(format_args!("  {name}:2 = \"tf.Identity\"({}) : ({ty}) -> ({ty}, {CHAIN})\n", operand.0));
        self.push(format!("{name}#0"), &x.dims);
        self.scope.edges.push(format!("{name}#1"));
    }

    /// An op that fails: a gather with an index out of bounds.
    pub(super) fn failure(&mut self) {
        let x = self.graph.some();
        if x.dims.is_empty() {
            return;
        }
        let dims: Vec<usize> = std::iter::once(2).chain(x.dims[1..].iter().copied()).collect();
        let (indices, axis) = (self.vector(&[0, 7777]), self.int(0));
        let (operand, ty) = (self.typed(&x), self.ty(&dims));
        let made = self.op("GatherV2", &[operand, indices, axis], "", &[&ty]);
        self.push(made[0].clone(), &dims);
    }
}
