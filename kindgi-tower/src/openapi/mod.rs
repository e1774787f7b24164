//! The OpenAPI document: made from the table of operations and the schemas, once.

mod operations;
mod parameters;
mod responses;
mod schemas;

use std::{collections::BTreeMap, sync::OnceLock};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, header::IF_NONE_MATCH, request::Parts};
use kindgi_core::json::{ObjectWriter, RawJson, Writer};
use schemars::{Schema, SchemaGenerator, generate::SchemaSettings};
use sha2::{Digest, Sha256};

use self::{
    operations::{Facts, SchemaOf},
    parameters::Parameter,
};
use crate::{
    decode::query::Query,
    refusal::Refusal,
    respond::Answer,
    route::{ROUTES, Route},
};

/// Where the document is.
const PATH: &str = "/v1/openapi.json";

/// The API's OpenAPI 3.1 document, as JSON, for a host that merges it into its own.
///
/// The paths begin with `/v1`, and `servers` is the root: a host that has mounted the service
/// elsewhere puts its mount before each path. The service itself answers the document at
/// `/v1/openapi.json`, with the mount that its
/// [`base_path`](crate::KindgiServiceBuilder::base_path) names.
///
/// ```
/// let document: serde_json::Map<_, _> = serde_json::from_str(&kindgi_tower::openapi())?;
/// assert_eq!(document["openapi"], "3.1.0");
///
/// let paths = document["paths"].as_object().unwrap();
/// let mounted = paths.iter().map(|(path, item)| (format!("/kindgi{path}"), item));
/// assert!(mounted.into_iter().any(|(path, _)| path == "/kindgi/v1/judgments"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn openapi() -> String {
    write("")
}

/// A service's document, made when it is first asked for.
#[derive(Default)]
pub(crate) struct Document(OnceLock<Built>);

struct Built {
    json: Bytes,
    etag: HeaderValue,
}

impl Document {
    /// The answer, if it is the document that is asked for. It is public: nobody is asked who
    /// they are.
    pub(crate) fn answer(
        &self,
        parts: &Parts,
        path: &str,
        base_path: &str,
    ) -> Option<Result<Answer, Refusal>> {
        if path != PATH {
            return None;
        }
        if !matches!(parts.method, Method::GET | Method::HEAD) {
            return Some(Err(Refusal::method_not_allowed("GET, HEAD")));
        }
        let built = self.0.get_or_init(|| Built::new(base_path));
        let query = Query::parse(parts.uri.query(), &[]);
        Some(
            query.map(|_| match is_current(&parts.headers, &built.etag) {
                true => Answer::not_modified(built.etag.clone()),
                false => Answer::document(built.json.clone(), built.etag.clone()),
            }),
        )
    }
}

impl Built {
    fn new(base_path: &str) -> Self {
        let json = Bytes::from(write(base_path));
        let hash = Sha256::digest(&json);
        let hash: String = hash.iter().take(16).map(|b| format!("{b:02x}")).collect();
        let etag = HeaderValue::try_from(format!("\"{hash}\""));
        Self {
            json,
            // Hexadecimal digits are always a header's value.
            etag: etag.unwrap_or_else(|_| HeaderValue::from_static("\"\"")),
        }
    }
}

/// Whether the client has the document already (RFC 9110 §13.1.2: compared weakly).
fn is_current(headers: &HeaderMap, etag: &HeaderValue) -> bool {
    let lines = headers.get_all(IF_NONE_MATCH).iter();
    let tags = lines.flat_map(|line| line.as_bytes().split(|byte| *byte == b','));
    let mut tags = tags.map(<[u8]>::trim_ascii);
    tags.any(|tag| tag == b"*" || tag.strip_prefix(b"W/").unwrap_or(tag) == etag.as_bytes())
}

/// The document of a service that is mounted there.
fn write(base_path: &str) -> String {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.for_serialize().into_generator();
    Writer::object(|o| {
        o.str("openapi", "3.1.0");
        o.object("info", info);
        o.array("servers", |a| {
            let url = if base_path.is_empty() { "/" } else { base_path };
            a.object(|o| o.str("url", url));
        });
        o.array("security", |a| a.object(|o| o.array("bearer", |_| {})));
        o.array("tags", |a| {
            for name in TAGS {
                a.object(|o| o.str("name", name));
            }
        });
        o.object("paths", |o| paths(o, &mut generator));
        o.object("components", |o| components(o, &mut generator));
        o.object("x-error-codes", |o| {
            for code in schemas::errors::ALL {
                let (name, status) = code.facts();
                o.u64(name, status.as_u16().into());
            }
        });
    })
}

const TAGS: [&str; 5] = [
    "judgments",
    "judge-classes",
    "judging-rules",
    "judging-queue",
    "openapi",
];

fn info(o: &mut ObjectWriter<'_>) {
    o.str("title", "Kindgi judgments");
    o.str("version", env!("CARGO_PKG_VERSION"));
    o.str(
        "description",
        "Verdicts of people and services on what agents and flows put out, the classes they judge \
         under, and the rules that queue runs for them.\n\nEvery answer of 400 or more is a \
         `WireError`, whose code says what went wrong; `x-error-codes` lists the codes with their \
         statuses. `HEAD` works wherever `GET` does. A path that isn't listed is answered 404 \
         (`not-found`), another method 405 (`method-not-allowed`) with `Allow`.",
    );
}

fn paths(o: &mut ObjectWriter<'_>, generator: &mut SchemaGenerator) {
    for route in ROUTES {
        o.object(route.path, |o| path(o, generator, route));
    }
    o.object(PATH, |o| {
        o.object("get", |o| {
            let facts = operations::document();
            described(o, &facts, "openapi");
            o.array("security", |_| {});
            o.array("parameters", |_| {});
            o.object("responses", |o| {
                responses::of_document(o, generator, &facts)
            });
        });
    });
}

fn path(o: &mut ObjectWriter<'_>, generator: &mut SchemaGenerator, route: &Route) {
    // The collection's name is the path's first segment that isn't a project's.
    let tag = TAGS
        .into_iter()
        .find(|tag| route.path.split('/').any(|s| s == *tag));
    for (method, operation) in route.operations {
        o.object(&method.as_str().to_ascii_lowercase(), |o| {
            let facts = operations::facts(*operation);
            let is_read = method == Method::GET;
            described(o, &facts, tag.unwrap_or_default());
            o.array("parameters", |a| {
                let in_path = names_in(route.path).map(parameters::path);
                let of_writes = (!is_read).then(parameters::idempotency_key);
                for each in in_path.chain(facts.query.iter().cloned()).chain(of_writes) {
                    a.object(|o| parameter(o, generator, &each));
                }
            });
            if let Some((schema, required)) = facts.body {
                o.object("requestBody", |o| body(o, generator, schema, required));
            }
            o.object("responses", |o| {
                responses::responses(o, generator, &facts, is_read);
            });
        });
    }
}

fn described(o: &mut ObjectWriter<'_>, facts: &Facts, tag: &str) {
    o.str("operationId", facts.id);
    o.array("tags", |a| a.str(tag));
    o.str("summary", facts.summary);
    if !facts.description.is_empty() {
        o.str("description", facts.description);
    }
}

/// The names of a path's parameters.
fn names_in(path: &str) -> impl Iterator<Item = &str> {
    path.split('/')
        .filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
}

fn parameter(o: &mut ObjectWriter<'_>, generator: &mut SchemaGenerator, parameter: &Parameter) {
    o.str("name", &parameter.name);
    o.str("in", parameter.place);
    o.str("description", parameter.description);
    o.bool("required", parameter.place == "path");
    o.raw("schema", &raw(&(parameter.schema)(generator)));
}

fn body(
    o: &mut ObjectWriter<'_>,
    generator: &mut SchemaGenerator,
    schema: SchemaOf,
    required: bool,
) {
    o.bool("required", required);
    o.object("content", |o| {
        o.object("application/json", |o| {
            o.raw("schema", &raw(&schema(generator)))
        });
    });
}

/// After the paths: the schemas are those that the paths have named.
fn components(o: &mut ObjectWriter<'_>, generator: &mut SchemaGenerator) {
    o.object("headers", |o| responses::headers(o, generator));
    o.object("securitySchemes", |o| {
        o.object("bearer", |o| {
            o.str("type", "http");
            o.str("scheme", "bearer");
        });
    });
    o.object("schemas", |o| {
        // Sorted, whatever the host's build has its maps do.
        let schemas: BTreeMap<_, _> = generator.take_definitions(true).into_iter().collect();
        for (name, schema) in &schemas {
            o.raw(name, &RawJson::from_stored(schema.to_string()));
        }
    });
}

/// A schema's text.
fn raw(schema: &Schema) -> RawJson {
    RawJson::from_stored(schema.as_value().to_string())
}
