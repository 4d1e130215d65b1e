//! Message types as a `.proto` file declares them: the fields of each message by name.
//!
//! The decoder is generated from the same file, so text and binary messages have the same fields. The file is
//! part of this crate: a mistake in it is a bug, found by the test that parses it.

use std::collections::HashMap;

/// The types of a `.proto` file.
#[derive(Debug, Default)]
pub(super) struct Schema {
    messages: HashMap<String, MessageType>,
    enums: HashMap<String, HashMap<String, i64>>,
}

/// A message type.
#[derive(Debug, Default)]
pub(super) struct MessageType {
    pub(super) fields: HashMap<String, Field>,
}

/// A field of a message.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) number: u32,
    pub(super) kind: FieldKind,
}

/// The type of a field's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FieldKind {
    /// int32 and int64.
    Int,
    /// uint32 and uint64.
    UInt,
    Bool,
    Float,
    Double,
    /// string and bytes.
    Text,
    Enum(String),
    Message(String),
}

impl Schema {
    /// The types in a `.proto` file, if it is well-formed.
    pub(super) fn parse(text: &str) -> Option<Schema> {
        let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
        let spaced: String = lines.flat_map(|line| line.chars().chain(['\n'])).collect();
        let mut words = Vec::new();
        for word in spaced.split_whitespace() {
            words.extend(word.split_inclusive(['{', '}', ';', '=', '<', '>', ',']).flat_map(|part| {
                let end = part.len() - part.ends_with(['{', '}', ';', '=', '<', '>', ',']) as usize;
                let (name, sign) = part.split_at(end);
                [name, sign].into_iter().filter(|part| !part.is_empty())
            }));
        }
        let mut schema = Schema::default();
        let mut words = words.into_iter().peekable();
        while let Some(word) = words.next() {
            match word {
                "message" => schema.message("", &mut words)?,
                "enum" => schema.enumeration(&mut words)?,
                _ => while words.next()? != ";" {},
            }
        }
        schema.resolve()?;
        Some(schema)
    }

    fn message<'a>(&mut self, outer: &str, words: &mut impl Iterator<Item = &'a str>) -> Option<()> {
        let name = format!("{outer}.{}", words.next()?);
        let mut message = MessageType::default();
        let mut n_open = 0;
        while n_open > 0 || !self.messages.contains_key(&name) {
            match words.next()? {
                "{" => n_open += 1,
                "}" => {
                    n_open -= 1;
                    if n_open == 0 {
                        break;
                    }
                }
                "message" => self.message(&name, words)?,
                "oneof" => _ = words.next()?,
                "repeated" | "optional" => {}
                "map" => {
                    let [_, key, _, value, _] = std::array::from_fn(|_| words.next());
                    let entry = format!("{name}.{}", self.messages.len());
                    let fields = [("key", 1, key?), ("value", 2, value?)].map(|(field, number, ty)| {
                        (field.to_owned(), Field { number, kind: kind(&name, ty) })
                    });
                    self.messages.insert(entry.clone(), MessageType { fields: fields.into() });
                    message.field(FieldKind::Message(entry), words)?;
                }
                ty => message.field(kind(&name, ty), words)?,
            }
        }
        self.messages.insert(name, message);
        Some(())
    }

    fn enumeration<'a>(&mut self, words: &mut impl Iterator<Item = &'a str>) -> Option<()> {
        let name = words.next()?.to_owned();
        words.next()?;
        let mut values = HashMap::new();
        loop {
            match words.next()? {
                "}" => break,
                value => {
                    words.next()?;
                    values.insert(value.to_owned(), words.next()?.parse().ok()?);
                    words.next()?;
                }
            }
        }
        self.enums.insert(name, values);
        Some(())
    }

    /// Resolves the type names of all fields, which are relative to the scopes of their messages.
    fn resolve(&mut self) -> Option<()> {
        let names: Vec<String> = self.messages.keys().cloned().collect();
        for name in names {
            let mut message = self.messages.remove(&name)?;
            for field in message.fields.values_mut() {
                let FieldKind::Message(path) = &field.kind else { continue };
                let (mut scope, ty) = path.rsplit_once('.')?;
                field.kind = loop {
                    let found = format!("{scope}.{ty}");
                    if found == name || self.messages.contains_key(&found) {
                        break FieldKind::Message(found);
                    }
                    match scope.rsplit_once('.') {
                        Some((outer, _)) => scope = outer,
                        None if self.enums.contains_key(ty) => break FieldKind::Enum(ty.to_owned()),
                        None => return None,
                    }
                };
            }
            self.messages.insert(name, message);
        }
        Some(())
    }

    /// A message type of the file.
    pub(super) fn named(&self, name: &str) -> Option<&MessageType> {
        self.messages.get(&format!(".{name}"))
    }

    /// The type of a field's messages.
    pub(super) fn of_field(&self, name: &str) -> Option<&MessageType> {
        self.messages.get(name)
    }

    /// A value of an enumeration.
    pub(super) fn value(&self, of: &str, name: &str) -> Option<i64> {
        self.enums.get(of)?.get(name).copied()
    }
}

impl MessageType {
    /// True for google.protobuf.Any.
    pub(super) fn is_any(&self) -> bool {
        self.fields.contains_key("type_url")
    }

    fn field<'a>(&mut self, kind: FieldKind, words: &mut impl Iterator<Item = &'a str>) -> Option<()> {
        let name = words.next()?.to_owned();
        let [_, number, _] = std::array::from_fn(|_| words.next());
        self.fields.insert(name, Field { number: number?.parse().ok()?, kind });
        Some(())
    }
}

/// The kind of a type, whose name is used in a message.
fn kind(scope: &str, ty: &str) -> FieldKind {
    match ty {
        "int32" | "int64" => FieldKind::Int,
        "uint32" | "uint64" => FieldKind::UInt,
        "bool" => FieldKind::Bool,
        "float" => FieldKind::Float,
        "double" => FieldKind::Double,
        "string" | "bytes" => FieldKind::Text,
        ty => FieldKind::Message(format!("{scope}.{ty}")),
    }
}
