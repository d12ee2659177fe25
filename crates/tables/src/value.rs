//! The value of an option: one type for the programs that set options and for the handle that stores them.

use std::convert::Infallible;

use crate::{ArgKind, EasyOption};

/// The value of an option, of whatever kind the option takes.
///
/// `T` is a text and `L` a list of texts: owned where a program passes them, shared where a handle stores
/// them. `F` is a multipart form.
#[derive(Clone, Debug, Default)]
pub enum Value<T, L, F> {
    /// The default of the option: nothing is set.
    #[default]
    Default,
    /// A number or a switch.
    Long(i64),
    /// A string or a blob.
    Text(T),
    /// A list of strings.
    List(L),
    /// A multipart form.
    Form(F),
}

impl<T, L, F> Value<T, L, F> {
    /// Returns the number of a [`Value::Long`]; 0 for any other.
    pub fn number(&self) -> i64 {
        if let Value::Long(number) = self { *number } else { 0 }
    }

    /// Returns whether the option accepts this kind of value. POST data and forms are objects in C.
    pub fn fits(&self, option: EasyOption) -> bool {
        let kind = option.kind();
        match self {
            Value::Default => true,
            Value::Long(_) => matches!(kind, ArgKind::Long | ArgKind::Values | ArgKind::OffT),
            Value::Text(_) => match kind {
                ArgKind::Object => matches!(option, EasyOption::PostFields | EasyOption::CopyPostFields),
                _ => matches!(kind, ArgKind::String | ArgKind::Blob),
            },
            Value::List(_) => kind == ArgKind::SList,
            Value::Form(_) => option == EasyOption::MimePost,
        }
    }
}

impl<T, L> Value<T, L, Infallible> {
    /// Converts the value to a type that also allows forms.
    pub fn or_form<F>(self) -> Value<T, L, F> {
        match self {
            Value::Default => Value::Default,
            Value::Long(n) => Value::Long(n),
            Value::Text(text) => Value::Text(text),
            Value::List(list) => Value::List(list),
            Value::Form(never) => match never {},
        }
    }
}

/// Compares values. Forms are never equal, because they are read as they are sent.
impl<T: PartialEq, L: PartialEq, F> PartialEq for Value<T, L, F> {
    fn eq(&self, other: &Value<T, L, F>) -> bool {
        match (self, other) {
            (Value::Default, Value::Default) => true,
            (Value::Long(a), Value::Long(b)) => a == b,
            (Value::Text(a), Value::Text(b)) => a == b,
            (Value::List(a), Value::List(b)) => a == b,
            _ => false,
        }
    }
}

impl<T, L, F> From<i64> for Value<T, L, F> {
    fn from(n: i64) -> Value<T, L, F> {
        Value::Long(n)
    }
}

impl<T, L, F> From<bool> for Value<T, L, F> {
    fn from(on: bool) -> Value<T, L, F> {
        Value::Long(i64::from(on))
    }
}

impl<L, F> From<&str> for Value<Vec<u8>, L, F> {
    fn from(text: &str) -> Value<Vec<u8>, L, F> {
        Value::Text(text.as_bytes().to_vec())
    }
}

impl<L, F> From<Vec<u8>> for Value<Vec<u8>, L, F> {
    fn from(text: Vec<u8>) -> Value<Vec<u8>, L, F> {
        Value::Text(text)
    }
}

impl<L, F> From<Option<Vec<u8>>> for Value<Vec<u8>, L, F> {
    fn from(text: Option<Vec<u8>>) -> Value<Vec<u8>, L, F> {
        text.map_or(Value::Default, Value::Text)
    }
}

impl<T, F> From<Vec<Vec<u8>>> for Value<T, Vec<Vec<u8>>, F> {
    fn from(list: Vec<Vec<u8>>) -> Value<T, Vec<Vec<u8>>, F> {
        Value::List(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Plain = Value<Vec<u8>, Vec<Vec<u8>>, Infallible>;

    #[test]
    fn a_value_fits_options_of_its_kind() {
        let rows: [(Plain, &[EasyOption]); 3] = [
            (7.into(), &[EasyOption::Port, EasyOption::HttpAuth, EasyOption::ResumeFromLarge]),
            ("x".into(), &[EasyOption::Url, EasyOption::SslCertBlob, EasyOption::PostFields]),
            (vec![b"x".to_vec()].into(), &[EasyOption::HttpHeader]),
        ];
        for (at, (value, _)) in rows.iter().enumerate() {
            for (other, (_, options)) in rows.iter().enumerate() {
                options.iter().for_each(|option| assert_eq!(value.fits(*option), at == other, "{option:?}"));
            }
            assert!(!value.fits(EasyOption::WriteFunction) && !value.fits(EasyOption::MimePost));
        }
        assert!(
            Value::<(), (), ()>::Form(()).fits(EasyOption::MimePost) && Plain::Default.fits(EasyOption::Url)
        );
    }

    #[test]
    fn forms_are_never_equal() {
        let form: Value<(), (), ()> = Value::Form(());
        assert!(form != form.clone());
        assert!(
            Plain::from("a") == "a".into()
                && Plain::from("a") != "b".into()
                && Plain::from(0) != Value::Default
        );
    }
}
