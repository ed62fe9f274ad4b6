"""The hook of the API tester: it gives the reason of a change once, which a schema cannot express.

Some environments require a reason. It stands in a header or in the body, and if in both, then the same in both.
"""

import schemathesis
from schemathesis.generation import GenerationMode

HEADER = "X-Change-Reason"


@schemathesis.hook
def before_call(context, case, kwargs):
    is_valid = case.meta is not None and case.meta.generation.mode == GenerationMode.POSITIVE
    if not is_valid or case.method.upper() == "GET":
        return
    in_body = isinstance(case.body, dict) and case.body.get("reason") is not None
    headers = {name: value for name, value in (case.headers or {}).items() if name.lower() != HEADER.lower()}
    case.headers = headers if in_body else {**headers, HEADER: "contract"}
