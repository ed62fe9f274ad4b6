//! Texts that users enter. They are stored unchanged, without trimming or case folding, except that tags are trimmed.

use pennon_core::Invalid;

/// Declares a text type with its validation.
macro_rules! text {
    ($(#[$meta:meta])* pub struct $name:ident = $check:expr) => {
        #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(try_from = "String")]
        #[cfg_attr(feature = "schema", schema(value_type = String))]
        pub struct $name(String);

        impl $name {
            /// Returns the text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = pennon_core::Invalid;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                let check: fn(&str) -> Result<(), Self::Error> = $check;
                check(&text)?;
                Ok(Self(text))
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(formatter)
            }
        }
    };
}

/// Declares a name type: one line with a maximum length.
macro_rules! name {
    ($(#[$meta:meta])* pub struct $name:ident = $max:tt, $example:tt) => {
        $crate::text::text! {
            $(#[$meta])*
            #[cfg_attr(
                feature = "schema",
                schema(min_length = 1, max_length = $max, pattern = r"^[^\u0000-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB]*[^\s\u0000-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB][^\u0000-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB]*$", example = $example)
            )]
            pub struct $name = |text| {
                let too_long = concat!("must have at most ", $max, " characters");
                $crate::text::check_line(text, $max, too_long)
            }
        }
    };
}

pub(crate) use {name, text};

/// Checks that a text is a single line of at most `max` characters, without control characters, and not blank.
pub(crate) fn check_line(text: &str, max: usize, too_long: &'static str) -> Result<(), Invalid> {
    if text.chars().count() > max {
        return Err(Invalid::new(too_long));
    }
    if text.chars().any(char::is_control) {
        return Err(Invalid::new(
            "must be a single line without control characters",
        ));
    }
    if text.trim().is_empty() {
        return Err(Invalid::new("must not be blank"));
    }
    Ok(())
}

/// A new name. Unlike stored names, which may be older than this rule, it has no invisible characters that could make
/// it look like another name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewName<T>(T);

impl<T: AsRef<str>> NewName<T> {
    /// Checks a name.
    pub fn new(name: T) -> Result<Self, Invalid> {
        let text = name.as_ref();
        if text.chars().any(is_hidden) {
            return Err(Invalid::new(
                "must not contain zero-width or bidirectional control characters",
            ));
        }
        if is_blank(text) {
            return Err(Invalid::new("must not be blank"));
        }
        Ok(Self(name))
    }

    /// Wraps a name that is already stored, either here or on the server that exported the document.
    pub fn stored(name: T) -> Self {
        Self(name)
    }

    /// Returns the name.
    pub fn into_inner(self) -> T {
        self.0
    }

    /// Returns a reference to the name.
    pub fn as_inner(&self) -> &T {
        &self.0
    }
}

impl<T: AsRef<str> + TryFrom<String, Error = Invalid>> TryFrom<String> for NewName<T> {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        T::try_from(text).and_then(Self::new)
    }
}

/// Returns true if a text has no visible character.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars()
        .all(|character| character.is_whitespace() || is_joiner(character) || is_hidden(character))
}

/// Returns true if a character is invisible and not a joiner: bidirectional controls, line and paragraph separators,
/// zero-width characters (Unicode's general categories Cf, Zl and Zp, except the characters that names need) and
/// fillers.
fn is_hidden(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}'
        | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e001f}')
}

/// Returns true if a character joins or separates its neighbors, as Persian, Indic scripts and emoji require.
fn is_joiner(character: char) -> bool {
    matches!(character, '\u{200c}' | '\u{200d}')
}

text! {
    /// The description of a flag, with at most 2000 characters in one or more lines.
    #[cfg_attr(
        feature = "schema",
        schema(max_length = 2000, pattern = r"^[^\u0000]*$", example = "Offers business customers an invoice at the checkout.")
    )]
    pub struct Description = |text| {
        if text.chars().count() > 2000 {
            return Err(Invalid::new("must have at most 2000 characters"));
        }
        if text.contains('\0') {
            return Err(Invalid::new("must not contain U+0000"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Description, check_line};

    #[test]
    fn a_line_has_no_control_characters() {
        for control in [
            '\0', '\t', '\n', '\r', '\u{1b}', '\u{7f}', '\u{85}', '\u{9f}',
        ] {
            assert!(
                check_line(&format!("a{control}b"), 3, "").is_err(),
                "{control:?}"
            );
        }
        for text in ["a b", "\u{a0}a", "é\u{ad}", "🚀"] {
            assert!(check_line(text, 3, "").is_ok(), "{text:?}");
        }
    }

    #[test]
    fn a_description_has_up_to_2000_characters() {
        let is_valid = |text: String| Description::try_from(text).is_ok();
        assert!(is_valid(String::new()) && is_valid("é\n".repeat(1000)));
        assert!(!is_valid("x".repeat(2001)) && !is_valid("\0".to_owned()));
    }
}
