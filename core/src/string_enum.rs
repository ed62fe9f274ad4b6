/// Declares an enum whose variants are strings in JSON, with its parser, formatter, serde implementations and schema.
///
/// The calling crate must depend on serde, and on utoipa for its feature `schema`. The strings are `tt`, because the
/// schema's derive macro cannot read a wrapped `literal`.
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

            /// Parses the string exactly as it is in JSON.
            pub fn parse(string: &str) -> Result<Self, $crate::Invalid> {
                match string {
                    $($string => Ok(Self::$variant),)+
                    _ => Err($crate::Invalid::new($refusal)),
                }
            }

            /// Returns the string as it is in JSON.
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
