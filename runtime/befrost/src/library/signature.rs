//! Signatures of kernels in libraries.
//!
//! ```text
//! x:T scale:T -> y:T; T:{float,double} eps:float=1e-5     an operator: the syntax of rows, and sets of types
//! i32 !t.tensor -> i32; by                                another kernel: types, names of attributes
//! ```

use befrost_tensor::tf::op::Type;

/// The signature of an operator.
pub(super) struct OperatorSignature {
    /// In the syntax of rows: attributes sorted, without sets.
    pub(super) text: String,
    /// The types that an attribute may be.
    pub(super) sets: Vec<(String, Vec<Type>)>,
}

impl OperatorSignature {
    pub(super) fn parse(text: &str) -> Result<OperatorSignature, String> {
        let (args, attrs) = text.split_once(';').unwrap_or((text, ""));
        let (mut all, mut sets) = (Vec::new(), Vec::new());
        for word in attrs.split_whitespace() {
            let (name, kind) = word.split_once(':').ok_or_else(|| format!("'{word}' is no attribute"))?;
            let Some(set) = kind.strip_prefix('{') else {
                all.push((name, word.to_owned()));
                continue;
            };
            let (set, default) =
                set.split_once('}').ok_or_else(|| format!("the set in '{word}' has no end"))?;
            let types = set
                .split(',')
                .map(|ty| Type::named(ty).ok_or_else(|| format!("there is no element type '{ty}'")));
            sets.push((name.to_owned(), types.collect::<Result<_, _>>()?));
            all.push((name, format!("{name}:type{default}")));
        }
        all.sort();
        if let Some(twice) = all.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(format!("the attribute '{}' is declared twice", twice[0].0));
        }
        let attrs: Vec<String> = all.into_iter().map(|(_, word)| word).collect();
        Ok(OperatorSignature { text: format!("{}; {}", args.trim(), attrs.join(" ")), sets })
    }
}

/// The signature of a kernel that is no operator.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct KernelSignature {
    pub(super) operands: Vec<String>,
    pub(super) results: Vec<String>,
    pub(super) attrs: Vec<String>,
}

impl KernelSignature {
    pub(super) fn parse(text: &str) -> Result<KernelSignature, String> {
        let (types, attrs) = text.split_once(';').unwrap_or((text, ""));
        let (operands, results) =
            types.split_once("->").ok_or_else(|| format!("the signature '{text}' has no '->'"))?;
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let mut attrs = words(attrs);
        attrs.sort();
        let signature = KernelSignature { operands: words(operands), results: words(results), attrs };
        match signature.operands.iter().chain(&signature.results).find(|ty| !is_known(ty)) {
            Some(ty) => Err(format!("no kernel of a library takes or gives values of type '{ty}'")),
            None => Ok(signature),
        }
    }
}

/// True for a type of values that libraries know.
fn is_known(ty: &str) -> bool {
    ty == "!tfrt.chain" || ty == "!t.tensor" || ty.parse::<befrost_tensor::DType>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_read_or_refused() {
        let norm = OperatorSignature::parse("x:T s:T -> y:T; eps:float=1e-5 T:{float,double}").unwrap();
        assert_eq!(norm.text, "x:T s:T -> y:T; T:type eps:float=1e-5");
        assert_eq!(norm.sets.len(), 1);
        assert_eq!(norm.sets[0].1.len(), 2);
        for (text, word) in [
            ("x:T -> y:T; T:{float", "no end"),
            ("x:T -> y:T; T:{what}", "'what'"),
            ("x:T -> y:T; T:type T:int", "twice"),
            ("x:T -> y:T; T", "no attribute"),
        ] {
            let error = OperatorSignature::parse(text).err().unwrap();
            assert!(error.contains(word), "{error}");
        }
        let area = KernelSignature::parse("i32 !t.tensor -> i32 !tfrt.chain; by at").unwrap();
        assert_eq!((area.operands.len(), area.results.len()), (2, 2));
        assert_eq!(area.attrs, ["at", "by"]);
        assert!(KernelSignature::parse("i32").is_err() && KernelSignature::parse("!x.y ->").is_err());
    }
}
