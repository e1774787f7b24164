//! The table of operations, and how a request finds its own.

use http::Method;
use matchit::Router;

use crate::refusal::{Code, Refusal};

/// An operation of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    ListJudgments,
    CreateJudgment,
    GetJudgment,
    UnregisterJudgment,
    ListJudgeClasses,
    CreateJudgeClass,
    GetJudgeClass,
    UpdateJudgeClass,
    UnregisterJudgeClass,
    ListJudgingRules,
    CreateJudgingRule,
    GetJudgingRule,
    UpdateJudgingRule,
    UnregisterJudgingRule,
    ListJudgingRuleVersions,
    JudgingRuleResults,
    PreviewJudgingRule,
    ListJudgingQueue,
    DismissJudgingItem,
    ReopenJudgingItem,
}

/// A path and what it has.
pub(crate) struct Route {
    pub(crate) path: &'static str,
    /// By method; `GET` stands for `HEAD`, too.
    pub(crate) operations: &'static [(Method, Operation)],
    /// The `Allow` header.
    pub(crate) allow: &'static str,
}

/// Every operation there is.
pub(crate) const ROUTES: &[Route] = &[
    Route {
        path: "/v1/judgments",
        operations: &[
            (Method::GET, Operation::ListJudgments),
            (Method::POST, Operation::CreateJudgment),
        ],
        allow: "GET, HEAD, POST",
    },
    Route {
        path: "/v1/judgments/{judgmentId}",
        operations: &[(Method::GET, Operation::GetJudgment)],
        allow: "GET, HEAD",
    },
    Route {
        path: "/v1/judgments/{judgmentId}/unregister",
        operations: &[(Method::POST, Operation::UnregisterJudgment)],
        allow: "POST",
    },
    Route {
        path: "/v1/judge-classes",
        operations: &[
            (Method::GET, Operation::ListJudgeClasses),
            (Method::POST, Operation::CreateJudgeClass),
        ],
        allow: "GET, HEAD, POST",
    },
    Route {
        path: "/v1/judge-classes/{judgeClassId}",
        operations: &[
            (Method::GET, Operation::GetJudgeClass),
            (Method::PATCH, Operation::UpdateJudgeClass),
        ],
        allow: "GET, HEAD, PATCH",
    },
    Route {
        path: "/v1/judge-classes/{judgeClassId}/unregister",
        operations: &[(Method::POST, Operation::UnregisterJudgeClass)],
        allow: "POST",
    },
    Route {
        path: "/v1/projects/{projectId}/judging-rules",
        operations: &[
            (Method::GET, Operation::ListJudgingRules),
            (Method::POST, Operation::CreateJudgingRule),
        ],
        allow: "GET, HEAD, POST",
    },
    // Beside the rules' ids, and before them: no rule is called `preview`.
    Route {
        path: "/v1/projects/{projectId}/judging-rules/preview",
        operations: &[(Method::GET, Operation::PreviewJudgingRule)],
        allow: "GET, HEAD",
    },
    Route {
        path: "/v1/projects/{projectId}/judging-rules/{ruleId}",
        operations: &[
            (Method::GET, Operation::GetJudgingRule),
            (Method::PATCH, Operation::UpdateJudgingRule),
        ],
        allow: "GET, HEAD, PATCH",
    },
    Route {
        path: "/v1/projects/{projectId}/judging-rules/{ruleId}/unregister",
        operations: &[(Method::POST, Operation::UnregisterJudgingRule)],
        allow: "POST",
    },
    Route {
        path: "/v1/projects/{projectId}/judging-rules/{ruleId}/versions",
        operations: &[(Method::GET, Operation::ListJudgingRuleVersions)],
        allow: "GET, HEAD",
    },
    Route {
        path: "/v1/projects/{projectId}/judging-rules/{ruleId}/results",
        operations: &[(Method::GET, Operation::JudgingRuleResults)],
        allow: "GET, HEAD",
    },
    Route {
        path: "/v1/projects/{projectId}/judging-queue",
        operations: &[(Method::GET, Operation::ListJudgingQueue)],
        allow: "GET, HEAD",
    },
    Route {
        path: "/v1/projects/{projectId}/judging-queue/{runId}/dismiss",
        operations: &[(Method::POST, Operation::DismissJudgingItem)],
        allow: "POST",
    },
    Route {
        path: "/v1/projects/{projectId}/judging-queue/{runId}/reopen",
        operations: &[(Method::POST, Operation::ReopenJudgingItem)],
        allow: "POST",
    },
];

/// A request's operation, and the parameters of its path, still percent-encoded.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) operation: Operation,
    pub(crate) path: &'static str,
    pub(crate) params: Vec<(String, String)>,
}

/// Finds operations by method and path.
pub(crate) struct Routes(Router<&'static Route>);

impl Routes {
    pub(crate) fn new() -> Self {
        let mut router = Router::new();
        for route in ROUTES {
            // Only two paths of the table that clash could fail, and a test walks the table.
            let _ = router.insert(route.path, route);
        }
        Self(router)
    }

    /// The operation, or 404 or 405. Paths match as they are sent: an empty segment and a
    /// trailing slash match nothing, and `%2F` separates nothing.
    pub(crate) fn find(&self, method: &Method, path: &str) -> Result<Found, Refusal> {
        let Ok(found) = self.0.at(path) else {
            return Err(Refusal::new(Code::NotFound, "no such path"));
        };
        let route = *found.value;
        let method = if method == Method::HEAD {
            &Method::GET
        } else {
            method
        };
        let Some((_, operation)) = route.operations.iter().find(|(m, _)| m == method) else {
            return Err(Refusal::method_not_allowed(route.allow));
        };
        let params = found.params.iter();
        Ok(Found {
            operation: *operation,
            path: route.path,
            params: params
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_of_the_table_is_found() {
        let routes = Routes::new();
        for route in ROUTES {
            let path = route.path.replace(['{', '}'], "");
            for (method, operation) in route.operations {
                assert_eq!(routes.find(method, &path).unwrap().operation, *operation);
            }
        }
    }

    #[test]
    fn the_allow_header_names_the_methods_of_the_table() {
        for route in ROUTES {
            let mut methods = Vec::new();
            for (method, _) in route.operations {
                methods.push(method.as_str());
                if method == Method::GET {
                    methods.push("HEAD");
                }
            }
            assert_eq!(route.allow, methods.join(", "), "{}", route.path);
        }
    }
}
