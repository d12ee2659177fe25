//! A value for an option, of whatever kind the option takes.

use std::rc::Rc;

use engine::Easy;
use engine::mime::MimeSource;
use tables::{ArgKind, Code, EasyOption};

use crate::Form;

/// What an option is set to.
#[derive(Clone)]
pub enum Value {
    /// Back to the default.
    Default,
    /// A number or a switch.
    Long(i64),
    /// A string or a blob.
    Text(Vec<u8>),
    /// A list of strings.
    List(Vec<Vec<u8>>),
    /// A multipart form.
    Form(Rc<dyn MimeSource>),
}

impl Value {
    /// Sets `option` to this value. The wrong kind of value is CURLE_BAD_FUNCTION_ARGUMENT, an option that is not
    /// built in answers as curl does.
    pub fn apply(self, option: EasyOption, easy: &Easy) -> Result<(), Code> {
        if !self.fits(option.kind()) {
            return Err(Code::BadFunctionArgument);
        }
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

    /// POST data and forms are objects in C.
    fn fits(&self, kind: ArgKind) -> bool {
        match self {
            Value::Default => true,
            Value::Long(_) => matches!(kind, ArgKind::Long | ArgKind::Values | ArgKind::OffT),
            Value::Text(_) => matches!(kind, ArgKind::String | ArgKind::Blob | ArgKind::Object),
            Value::List(_) => kind == ArgKind::SList,
            Value::Form(_) => kind == ArgKind::Object,
        }
    }
}

impl From<i64> for Value {
    fn from(n: i64) -> Value {
        Value::Long(n)
    }
}

impl From<bool> for Value {
    fn from(on: bool) -> Value {
        Value::Long(i64::from(on))
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.as_bytes().to_vec())
    }
}

impl From<Vec<u8>> for Value {
    fn from(text: Vec<u8>) -> Value {
        Value::Text(text)
    }
}

impl From<Vec<Vec<u8>>> for Value {
    fn from(list: Vec<Vec<u8>>) -> Value {
        Value::List(list)
    }
}

impl From<Form> for Value {
    fn from(form: Form) -> Value {
        Value::Form(Rc::new(form))
    }
}
