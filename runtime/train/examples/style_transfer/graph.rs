//! A TensorFlow graph, written node by node as the GraphDef that Befrost imports.
//!
//! ```text
//! node(name, op, inputs, attributes) ──▶ protobuf bytes ──▶ Source::GraphDef
//! ```

/// An attribute of a node.
pub(crate) enum Attr<'a> {
    Bool(bool),
    Int(i64),
    Text(&'a str),
    Ints(&'a [i64]),
    Dims(&'a [usize]),
    Type(DataType),
    Floats(&'a [usize], &'a [f32]),
    Indices(&'a [i32]),
}

/// An element type, by its number in TensorFlow.
#[derive(Clone, Copy)]
pub(crate) enum DataType {
    Float = 1,
    Int32 = 3,
}

/// A graph that is being written.
#[derive(Default)]
pub(crate) struct GraphDef(Vec<u8>);

impl GraphDef {
    /// Appends a node, and returns its name.
    pub(crate) fn node(
        &mut self,
        name: &str,
        op: &str,
        inputs: &[&str],
        attrs: &[(&str, Attr<'_>)],
    ) -> String {
        let mut node = Vec::new();
        bytes(&mut node, 1, name.as_bytes());
        bytes(&mut node, 2, op.as_bytes());
        inputs.iter().for_each(|input| bytes(&mut node, 3, input.as_bytes()));
        for (key, value) in attrs {
            let mut entry = Vec::new();
            bytes(&mut entry, 1, key.as_bytes());
            bytes(&mut entry, 2, &value.encoded());
            bytes(&mut node, 5, &entry);
        }
        bytes(&mut self.0, 1, &node);
        name.to_owned()
    }

    /// A node of floats whose only attributes besides the element type are these.
    pub(crate) fn float(
        &mut self,
        name: &str,
        op: &str,
        inputs: &[&str],
        attrs: &[(&str, Attr<'_>)],
    ) -> String {
        let mut all = vec![("T", Attr::Type(DataType::Float))];
        all.extend(attrs.iter().map(|(key, value)| (*key, value.again())));
        self.node(name, op, inputs, &all)
    }

    /// A constant of floats.
    pub(crate) fn floats(&mut self, name: &str, dims: &[usize], values: &[f32]) -> String {
        let value = Attr::Floats(dims, values);
        self.node(name, "Const", &[], &[("dtype", Attr::Type(DataType::Float)), ("value", value)])
    }

    /// A constant vector of integers.
    pub(crate) fn ints(&mut self, name: &str, values: &[i32]) -> String {
        let value = Attr::Indices(values);
        self.node(name, "Const", &[], &[("dtype", Attr::Type(DataType::Int32)), ("value", value)])
    }

    /// The bytes.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }
}

impl<'a> Attr<'a> {
    fn again(&self) -> Attr<'a> {
        match *self {
            Attr::Bool(value) => Attr::Bool(value),
            Attr::Int(value) => Attr::Int(value),
            Attr::Text(value) => Attr::Text(value),
            Attr::Ints(value) => Attr::Ints(value),
            Attr::Dims(value) => Attr::Dims(value),
            Attr::Type(value) => Attr::Type(value),
            Attr::Floats(dims, values) => Attr::Floats(dims, values),
            Attr::Indices(values) => Attr::Indices(values),
        }
    }

    /// The AttrValue.
    fn encoded(&self) -> Vec<u8> {
        let mut value = Vec::new();
        match self {
            Attr::Text(text) => bytes(&mut value, 2, text.as_bytes()),
            Attr::Int(number) => varint(&mut value, 3, *number as u64),
            Attr::Bool(flag) => varint(&mut value, 5, u64::from(*flag)),
            Attr::Type(ty) => varint(&mut value, 6, *ty as u64),
            Attr::Dims(dims) => bytes(&mut value, 7, &shape(dims)),
            Attr::Ints(numbers) => {
                let mut list = Vec::new();
                numbers.iter().for_each(|&number| varint(&mut list, 3, number as u64));
                bytes(&mut value, 1, &list);
            }
            Attr::Floats(dims, numbers) => {
                let content: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
                bytes(&mut value, 8, &tensor(DataType::Float, dims, &content));
            }
            Attr::Indices(numbers) => {
                let content: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
                bytes(&mut value, 8, &tensor(DataType::Int32, &[numbers.len()], &content));
            }
        }
        value
    }
}

/// The TensorProto.
fn tensor(ty: DataType, dims: &[usize], content: &[u8]) -> Vec<u8> {
    let mut tensor = Vec::new();
    varint(&mut tensor, 1, ty as u64);
    bytes(&mut tensor, 2, &shape(dims));
    bytes(&mut tensor, 4, content);
    tensor
}

/// The TensorShapeProto.
fn shape(dims: &[usize]) -> Vec<u8> {
    let mut shape = Vec::new();
    for &dim in dims {
        let mut size = Vec::new();
        varint(&mut size, 1, dim as u64);
        bytes(&mut shape, 2, &size);
    }
    shape
}

fn varint(to: &mut Vec<u8>, field: u64, value: u64) {
    raw(to, field << 3);
    raw(to, value);
}

fn bytes(to: &mut Vec<u8>, field: u64, value: &[u8]) {
    raw(to, field << 3 | 2);
    raw(to, value.len() as u64);
    to.extend_from_slice(value);
}

fn raw(to: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}
