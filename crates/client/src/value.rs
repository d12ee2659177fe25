//! Values of options.

use std::convert::Infallible;
use std::rc::Rc;

use engine::mime::MimeSource;
use engine::{Easy, Settings};
use tables::{ArgKind, Code, EasyOption};

use crate::Form;

/// A value for an option.
#[derive(Clone, Debug)]
pub enum Value<F = Rc<dyn MimeSource>> {
    /// The option's default.
    Default,
    /// A number or a switch.
    Long(i64),
    /// A string or a blob.
    Text(Vec<u8>),
    /// A list of strings.
    List(Vec<Vec<u8>>),
    /// A multipart form.
    Form(F),
}

/// A value other than a form; it may be sent to another thread.
pub type PlainValue = Value<Infallible>;

impl PlainValue {
    /// Converts the value to the type that also allows forms.
    pub fn or_form(self) -> Value {
        match self {
            Value::Default => Value::Default,
            Value::Long(n) => Value::Long(n),
            Value::Text(text) => Value::Text(text),
            Value::List(list) => Value::List(list),
            Value::Form(never) => match never {},
        }
    }
}

impl Value {
    /// Sets `option` to this value. Returns CURLE_BAD_FUNCTION_ARGUMENT for the wrong kind of value, and for
    /// text where C passes an object; CURLOPT_POSTFIELDS accepts text and bytes, and copies them. An option
    /// that is not built in returns the same code as in curl.
    pub(crate) fn apply(self, option: EasyOption, easy: &Easy) -> Result<(), Code> {
        if !self.fits(option) {
            return Err(Code::BadFunctionArgument);
        }
        if option == EasyOption::Postfields {
            easy.state().settings.borrow_mut().forget_copied_post_fields();
        }
        let option = match &self {
            Value::Text(_) if option == EasyOption::Postfields => EasyOption::Copypostfields,
            _ => option,
        };
        let settings = || easy.state().settings.borrow_mut();
        match self {
            Value::Default => match option.kind() {
                ArgKind::Long | ArgKind::Values | ArgKind::OffT => settings().set_long(option, 0),
                ArgKind::SList => settings().set_list(option, None),
                _ => easy.set_text(option, None),
            },
            Value::Long(n) => settings().set_long(option, n),
            Value::Text(text) => easy.set_text(option, Some(&text)),
            Value::List(list) => settings().set_list(option, Some(list.into_iter().map(Rc::from).collect())),
            Value::Form(form) if option == EasyOption::Mimepost => {
                settings().set_mime(Some(form));
                Ok(())
            }
            Value::Form(_) => Err(Code::BadFunctionArgument),
        }
    }

    /// Returns the current value of an option.
    pub(crate) fn of(option: EasyOption, settings: &Settings) -> Value {
        match option.kind() {
            ArgKind::Long | ArgKind::Values | ArgKind::OffT => Value::Long(settings.long(option)),
            ArgKind::SList => Value::List(settings.list(option).iter().map(|entry| entry.to_vec()).collect()),
            _ => settings.text(option).map_or(Value::Default, |text| Value::Text(text.to_vec())),
        }
    }

    /// Returns the number of a [`Value::Long`]; 0 for any other.
    pub fn number(&self) -> i64 {
        if let Value::Long(number) = self { *number } else { 0 }
    }

    /// Returns whether the option accepts this kind of value. POST data and forms are objects in C.
    fn fits(&self, option: EasyOption) -> bool {
        let kind = option.kind();
        match self {
            Value::Default => true,
            Value::Long(_) => matches!(kind, ArgKind::Long | ArgKind::Values | ArgKind::OffT),
            Value::Text(_) => match kind {
                ArgKind::Object => matches!(option, EasyOption::Postfields | EasyOption::Copypostfields),
                _ => matches!(kind, ArgKind::String | ArgKind::Blob),
            },
            Value::List(_) => kind == ArgKind::SList,
            Value::Form(_) => option == EasyOption::Mimepost,
        }
    }
}

/// Compares values. Forms are never equal, because they are read as they are sent.
impl<F> PartialEq for Value<F> {
    fn eq(&self, other: &Value<F>) -> bool {
        match (self, other) {
            (Value::Default, Value::Default) => true,
            (Value::Long(a), Value::Long(b)) => a == b,
            (Value::Text(a), Value::Text(b)) => a == b,
            (Value::List(a), Value::List(b)) => a == b,
            _ => false,
        }
    }
}

impl<F> From<i64> for Value<F> {
    fn from(n: i64) -> Value<F> {
        Value::Long(n)
    }
}

impl<F> From<bool> for Value<F> {
    fn from(on: bool) -> Value<F> {
        Value::Long(i64::from(on))
    }
}

impl<F> From<&str> for Value<F> {
    fn from(text: &str) -> Value<F> {
        Value::Text(text.as_bytes().to_vec())
    }
}

impl<F> From<Vec<u8>> for Value<F> {
    fn from(text: Vec<u8>) -> Value<F> {
        Value::Text(text)
    }
}

impl<F> From<Option<Vec<u8>>> for Value<F> {
    fn from(text: Option<Vec<u8>>) -> Value<F> {
        text.map_or(Value::Default, Value::Text)
    }
}

impl<F> From<Vec<Vec<u8>>> for Value<F> {
    fn from(list: Vec<Vec<u8>>) -> Value<F> {
        Value::List(list)
    }
}

impl From<Form> for Value {
    fn from(form: Form) -> Value {
        Value::Form(Rc::new(form))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::callbacks::Callbacks;

    struct Nobody;

    impl Callbacks for Nobody {}

    /// Each option either stores text or refuses it.
    #[test]
    fn no_option_takes_text_and_does_nothing() {
        for option in EasyOption::ALL.iter().copied() {
            let easy = Easy::new(Rc::new(Nobody));
            let value: Value = "a=b".into();
            let answer = value.apply(option, &easy);
            let object = option.kind() == ArgKind::Object;
            let posts = matches!(option, EasyOption::Postfields | EasyOption::Copypostfields);
            let settings = easy.state().settings.borrow();
            if object {
                assert_eq!(answer.is_ok(), posts, "{option:?}");
                assert_eq!(
                    settings.copied_post_fields.as_deref(),
                    posts.then_some(&b"a=b"[..]),
                    "{option:?}"
                );
            } else if !matches!(option.kind(), ArgKind::String | ArgKind::Blob) {
                assert_eq!(answer, Err(Code::BadFunctionArgument), "{option:?}");
            }
        }
    }

    #[test]
    fn post_fields_are_copied_and_forgotten() {
        let easy = Easy::new(Rc::new(Nobody));
        let value: Value = vec![0u8, 255].into();
        value.apply(EasyOption::Postfields, &easy).unwrap();
        assert_eq!(easy.state().settings.borrow().copied_post_fields.as_deref(), Some(&[0, 255][..]));
        let value: Value = Value::Default;
        value.apply(EasyOption::Postfields, &easy).unwrap();
        assert_eq!(easy.state().settings.borrow().copied_post_fields, None);
    }
}
