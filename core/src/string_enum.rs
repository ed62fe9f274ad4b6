/// Declares an enum whose variants are strings on the wire, once for the parser, the printer, serde and the schema.
///
/// The crate that declares one depends on serde, and for its feature `schema` on utoipa. (The strings are `tt`, as a `literal`
/// comes in a wrapping that the derive of the schema does not see through.)
#[macro_export]
macro_rules! string_enum {
    (
        $(#[$meta:meta])*
        pub enum $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $string:tt,)+ }
        else $refusal:literal
    ) => {
        #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$variant_meta])* #[serde(rename = $string)] $variant,)+
        }

        impl $name {
            /// Every variant, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Reads the string exactly as it is written on the wire.
            pub fn parse(string: &str) -> Result<Self, $crate::Invalid> {
                match string {
                    $($string => Ok(Self::$variant),)+
                    _ => Err($crate::Invalid::new($refusal)),
                }
            }

            /// The string as it is written on the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $string,)+ }
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                formatter.write_str(self.as_str())
            }
        }
    };
}
