//! Closed lists of words.

/// Declares an enum whose variants are words on the wire, once for the parser, the printer, serde and the schema.
/// (Words are `tt`, as a `literal` comes in a wrapping that the derive of the schema does not see through.)
macro_rules! words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $word:tt,)+ }
        else $refusal:literal
    ) => {
        #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub enum $name {
            $($(#[$variant_meta])* #[cfg_attr(feature = "serde", serde(rename = $word))] $variant,)+
        }

        impl $name {
            /// Every word of the list.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Reads the word exactly as it is written on the wire.
            pub fn parse(word: &str) -> Result<Self, $crate::model::Invalid> {
                match word {
                    $($word => Ok(Self::$variant),)+
                    _ => Err($crate::model::Invalid::new($refusal)),
                }
            }

            /// The word as it is written on the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                formatter.write_str(self.as_str())
            }
        }
    };
}

pub(crate) use words;
