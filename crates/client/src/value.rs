//! Values of options.

use std::convert::Infallible;
use std::rc::Rc;

use engine::mime::MimeSource;
use engine::{Easy, Settings};
use tables::{ArgKind, Code, EasyOption};

use crate::Form;

/// The value of an option. It is made by `into` from a number, a switch, a text, bytes, a list of texts or a
/// [`Form`].
pub type Value<F = Rc<dyn MimeSource>> = tables::Value<Vec<u8>, Vec<Vec<u8>>, F>;

/// A value other than a form; it may be sent to another thread.
pub type PlainValue = Value<Infallible>;

/// Sets `option` to a value. Returns CURLE_BAD_FUNCTION_ARGUMENT for the wrong kind of value, and for text
/// where C passes an object. Copies the text of CURLOPT_POSTFIELDS.
// exhaustive: options
pub(crate) fn apply(value: Value, option: EasyOption, easy: &Easy) -> Result<(), Code> {
    if !value.fits(option) {
        return Err(Code::BadFunctionArgument);
    }
    if option == EasyOption::PostFields {
        easy.state().settings.borrow_mut().forget_copied_post_fields();
    }
    let copies = option == EasyOption::PostFields && matches!(value, Value::Text(_));
    let option = if copies { EasyOption::CopyPostFields } else { option };
    let settings = || easy.state().settings.borrow_mut();
    match value {
        Value::Default => match option.kind() {
            ArgKind::Long | ArgKind::Values | ArgKind::OffT => settings().set_long(option, 0),
            ArgKind::SList => settings().set_list(option, None),
            ArgKind::String | ArgKind::Blob | ArgKind::Object | ArgKind::CbPtr | ArgKind::Function => {
                easy.set_text(option, None)
            }
        },
        Value::Long(n) => settings().set_long(option, n),
        Value::Text(text) => easy.set_text(option, Some(&text)),
        Value::List(list) => settings().set_list(option, Some(list.into_iter().map(Rc::from).collect())),
        Value::Form(form) => {
            settings().set_mime(Some(form));
            Ok(())
        }
    }
}

/// Returns the current value of an option.
// exhaustive: options
pub(crate) fn read(option: EasyOption, settings: &Settings) -> Value {
    match option.kind() {
        ArgKind::Long | ArgKind::Values | ArgKind::OffT => Value::Long(settings.long(option)),
        ArgKind::SList => Value::List(settings.list(option).iter().map(|entry| entry.to_vec()).collect()),
        ArgKind::String | ArgKind::Blob | ArgKind::Object | ArgKind::CbPtr | ArgKind::Function => {
            settings.text(option).map_or(Value::Default, |text| Value::Text(text.to_vec()))
        }
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
            let answer = apply(value, option, &easy);
            let object = option.kind() == ArgKind::Object;
            let posts = matches!(option, EasyOption::PostFields | EasyOption::CopyPostFields);
            let settings = easy.state().settings.borrow();
            if object {
                assert_eq!(answer.is_ok(), posts, "{option:?}");
                assert_eq!(
                    settings.uncommon.copied_post_fields.as_deref(),
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
        apply(value, EasyOption::PostFields, &easy).unwrap();
        assert_eq!(
            easy.state().settings.borrow().uncommon.copied_post_fields.as_deref(),
            Some(&[0, 255][..])
        );
        let value: Value = Value::Default;
        apply(value, EasyOption::PostFields, &easy).unwrap();
        assert_eq!(easy.state().settings.borrow().uncommon.copied_post_fields, None);
    }
}
