//! Tests on small texts.

use prost::Message;

use super::*;
use crate::import::proto::attr_value::Value;
use crate::import::proto::{GraphDef, NodeDef};

fn graph(text: &str) -> Result<GraphDef, String> {
    let binary = to_binary(text, "GraphDef")?;
    Ok(GraphDef::decode(&binary[..]).unwrap())
}

fn node(text: &str) -> NodeDef {
    graph(&format!("node {{ {text} }}")).unwrap().node.remove(0)
}

fn check(text: &str, want: &str) {
    let found = graph(text).unwrap_err();
    assert!(found.contains(want), "{text}: {found}");
}

#[test]
fn the_schema_has_all_messages() {
    let schema = Schema::parse(include_str!("../proto/tensorflow.proto")).unwrap();
    let attr = schema.named("AttrValue").unwrap();
    assert_eq!(attr.fields["list"].kind, FieldKind::Message(".AttrValue.ListValue".to_owned()));
    assert_eq!(attr.fields["type"].kind, FieldKind::Enum("DataType".to_owned()));
    assert_eq!(schema.named("TensorProto").unwrap().fields["dcomplex_val"].number, 12);
    assert_eq!(schema.value("DataType", "DT_BFLOAT16"), Some(14));
    assert_eq!(schema.value("DataType", "DT_FLOAT_REF"), Some(101));
    assert!(schema.named("SavedModel").is_some() && schema.named("Nothing").is_none());
}

#[test]
fn fields_of_every_kind() {
    let text = r#"
        # a comment
        name: "a" 'b' "\x41\101\n\"" op: "Const"; input: ["x", "^y"], device: "\u00e9"
        attr { key: "i" value { i: -0x10 } }  attr: < key: "j" value: < i: 017 > >
        attr { key: "f" value { f: 1.5e-3 } } attr { key: "g" value { f: -inf } } attr { key: "h" value { f: 2f } }
        attr { key: "b" value { b: true } }   attr { key: "t" value { type: DT_FLOAT } }
        attr { key: "s" value { shape { dim { size: -1 } dim { size: 3 name: "w" } } } }
        attr { key: "l" value { list { i: [1, 2] i: 3 s: "z" b: False type: [DT_INT32, 7] } } }
        attr { key: "v" value { tensor { dtype: DT_HALF half_val: 15360 tensor_content: "\000\377" } } }
        experimental_type { type_id: TFT_TENSOR args { type_id: 3 s: "x" "y" n: -1.5 } any { [a.b/c.D] { x: 1 } } }
    "#;
    let NodeDef { name, op, input, device, attr } = node(text);
    assert_eq!((&name[..], &op[..], &device[..]), ("abAA\n\"", "Const", "é"));
    assert_eq!(input, ["x", "^y"]);
    let value = |name: &str| attr[name].value.clone().unwrap();
    assert_eq!((value("i"), value("j")), (Value::I(-16), Value::I(15)));
    assert_eq!(
        (value("f"), value("g"), value("h")),
        (Value::F(1.5e-3), Value::F(f32::NEG_INFINITY), Value::F(2.0))
    );
    assert_eq!((value("b"), value("t")), (Value::B(true), Value::Type(1)));
    let Value::Shape(shape) = value("s") else { panic!() };
    assert_eq!(shape.dim.iter().map(|dim| dim.size).collect::<Vec<_>>(), [-1, 3]);
    let Value::List(list) = value("l") else { panic!() };
    assert_eq!((&list.i[..], &list.s[..], &list.b[..]), (&[1, 2, 3][..], &[b"z".to_vec()][..], &[false][..]));
    assert_eq!(list.r#type, [3, 7]);
    let Value::Tensor(tensor) = value("v") else { panic!() };
    assert_eq!(
        (tensor.dtype, &tensor.half_val[..], &tensor.tensor_content[..]),
        (19, &[15360][..], &[0, 255][..])
    );
}

#[test]
fn mistakes_have_a_place() {
    check("node {\n  name: 5 }", "line 2, column 9: expected a text, found 5");
    check("node { name: \"x }", "a text that does not end");
    check("node {", "line 1, column 7: the text ends inside of a message");
    check("node { name \"x\" }", "expected ':' or a message");
    check("}", "expected the name of a field, found '}'");
    check("node: 3", "expected a message, found 3");
    check("node { name { } }", "a message for a field that is none");
    check("node { attr { value { type: DT_NOTHING } } }", "expected a value of DataType, found 'DT_NOTHING'");
    check("node { attr { value { i: 99999999999999999999 } } }", "expected an integer");
    check("node { attr { value { b: maybe } } }", "expected true or false");
    check("node { name: \"\\q\" }", "an unknown escape '\\q'");
    check("node { name: \"\\777\" }", "an octal escape above 377");
    check("node { input: [\"a\" \"b\" 3", "expected ',' or ']' in a list");
    check("node { [a.b", "the text ends inside of a name");
    check("é", "found 'é'");
    check(&"node { x { ".repeat(200), "nested more than 100 deep");
}
