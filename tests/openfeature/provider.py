"""Tests a running server with OpenFeature's own provider for Python: `provider.py ADDRESS ACCESS_TOKEN`."""

import sys

import requests
from openfeature import api
from openfeature.contrib.provider.ofrep import OFREPProvider
from openfeature.evaluation_context import EvaluationContext
from openfeature.exception import ErrorCode
from openfeature.flag_evaluation import Reason

passed = 0


def prepare(address, token):
    """Creates flags: on in DE from 10 seats on and for 64% of users, with that rule only, on, and off."""

    def call(method, path, body):
        headers = {"Authorization": f"Bearer {token}"}
        answer = requests.request(method, address + path, json=body, headers=headers, timeout=10)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    environment = call("POST", "/environments", {"product": "Web shop", "name": "production"})
    for key in ["targeted", "ruled", "on", "off"]:
        flag = call("POST", "/flags", {"key": key, "name": key, "type": "boolean"})
        pair = f"/flags/{flag['id']}/environments/{environment['id']}"
        if key != "off":
            call("PUT", pair, {"isEnabled": True})
        if key in ["targeted", "ruled"]:
            conditions = [
                {"attribute": "country", "operator": "==", "valueType": "string", "valueString": "DE"},
                {"attribute": "seats", "operator": ">=", "valueType": "number", "valueInt": 10},
            ]
            rule = {"priority": 1, "logic": "and", "value": True, "conditions": conditions}
            call("POST", f"{pair}/rules", rule)
        if key == "targeted":
            call("PUT", f"{pair}/rollout", {"percentage": 64, "strategy": "per_user"})
    return environment["sdkKey"]


def ask(domain, flag, default=False, targeting_key=None, **attributes):
    context = EvaluationContext(targeting_key=targeting_key, attributes=attributes)
    return api.get_client(domain).get_boolean_details(flag, default, context)


def expect(found, metadata=None, **expected):
    global passed
    for name, value in expected.items():
        actual = getattr(found, name)
        assert actual == value, f"{found.flag_key}: {name} is {actual!r}, not {value!r}"
    if metadata is not None:
        assert found.flag_metadata == metadata, f"{found.flag_key}: {found.flag_metadata}"
    passed += 1


def main(address, token):
    def provider(key):
        return OFREPProvider(address, headers_factory=lambda: {"Authorization": f"Bearer {key}"})

    api.set_provider(provider(prepare(address, token)), "shop")
    api.set_provider(provider("pnk_unknown"), "stranger")

    german = ask("shop", "targeted", targeting_key="linus", country="DE", seats=12)
    ruled = {"reason": "targeting_rule"}
    expect(german, ruled, value=True, variant="on", reason=Reason.TARGETING_MATCH)
    rollout = {"reason": "rollout"}
    ada = ask("shop", "targeted", targeting_key="ada", country="GB", beta=True)
    expect(ada, rollout, value=True, reason=Reason.SPLIT)
    linus = ask("shop", "targeted", True, targeting_key="linus")
    expect(linus, rollout, value=False, variant="off", reason=Reason.SPLIT)
    expect(ask("shop", "on"), value=True, variant="on", reason=Reason.STATIC)
    unmatched = {"reason": "flag_enabled"}
    expect(ask("shop", "ruled", country="GB"), unmatched, value=True, reason=Reason.DEFAULT)
    expect(ask("shop", "off", True), value=False, variant="off", reason=Reason.STATIC)

    unknown = ask("shop", "nothing", True)
    expect(unknown, value=True, reason=Reason.ERROR, error_code=ErrorCode.FLAG_NOT_FOUND)
    bad = ask("shop", "on", email="not an address")
    expect(bad, value=False, error_code=ErrorCode.INVALID_CONTEXT)
    text = api.get_client("shop").get_string_details("on", "none")
    expect(text, value="none", error_code=ErrorCode.TYPE_MISMATCH)
    expect(ask("stranger", "on"), value=False, error_code=ErrorCode.GENERAL)
    print(f"{passed} passed")


main(*sys.argv[1:])
