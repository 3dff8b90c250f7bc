"""Validates an OpenAPI 3.1 document with the validators of Python: python3 checkOpenapi.py FILE

Prints a line for each mistake. Exit code: 0 without a mistake, 1 with some, 3 where python3 has no
openapi-spec-validator (Debian: python3-openapi-spec-validator).
"""
import json
import sys
from urllib.parse import quote

try:
    from openapi_schema_validator import OAS31Validator
    from openapi_spec_validator import OpenAPIV31SpecValidator
    from referencing import Registry, Resource
    from referencing.jsonschema import DRAFT202012
except ImportError as missing:
    print(missing, file=sys.stderr)
    sys.exit(3)

with open(sys.argv[1], encoding="utf-8") as file:
    document = json.load(file)

mistakes = []
for error in OpenAPIV31SpecValidator(document).iter_errors():
    place = ".".join(str(part) for part in error.absolute_path)
    mistakes.append(f"{place}: {error.message[:200]}")

# The examples, each against the schema it stands with, which is named by its place in the document.
base = "urn:document"
registry = Registry().with_resource(base, Resource.from_contents(document, default_specification=DRAFT202012))
tried = 0


def check(example, path):
    global tried
    tried += 1
    pointer = "/".join(str(part).replace("~", "~0").replace("/", "~1") for part in [*path, "schema"])
    schema = {"$ref": f"{base}#/{quote(pointer)}"}
    for error in OAS31Validator(schema, registry=registry).iter_errors(example):
        place = ".".join(str(part) for part in path)
        mistakes.append(f"example of {place}: {error.message[:200]}")


def walk(part, path):
    if isinstance(part, dict):
        if "example" in part and "schema" in part:
            check(part["example"], path)
        for name, inner in part.items():
            if name != "example":
                walk(inner, [*path, name])
    elif isinstance(part, list):
        for index, inner in enumerate(part):
            walk(inner, [*path, index])


walk(document, [])
for mistake in mistakes:
    print(mistake)
print(f"{tried} examples tried", file=sys.stderr)
sys.exit(1 if mistakes else 0)
