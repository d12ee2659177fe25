"""WARMWIRE_HAR, _TIMELINE, _LOG and _TRACE read by haralyzer, an XML and a JSON parser, and OpenTelemetry's own messages."""

import base64
import contextlib
import http.server
import json
import socket
import subprocess
import threading
import time
import xml.etree.ElementTree

import pytest
from google.protobuf import json_format
from haralyzer import HarParser
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

import conftest

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers each path, notes each request, and takes spans at /v1/traces."""

    protocol_version = "HTTP/1.1"

    def answer(self, status, fields=(), body=b"text"):
        self.send_response(status)
        for name, value in (*fields, ("Content-Type", "text/plain"), ("Content-Length", len(body))):
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.server.requests.append((self.path, self.headers))
        port = self.server.server_address[1]
        if self.path.startswith("/elsewhere"):
            return self.answer(302, [("Location", f"http://localhost:{port}/arrived")])
        if self.path.startswith("/here"):
            return self.answer(302, [("Location", "/arrived?token=hidden")])
        self.answer(404 if self.path.startswith("/missing") else 200, [("Set-Cookie", "a=hidden")])

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/v1/traces":
            self.server.exports.append((self.headers, body))
            return self.answer(self.server.verdict, body=b"{}")
        self.server.requests.append((self.path, self.headers))
        self.answer(200)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serving():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.requests, server.exports, server.verdict = [], [], 200
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    server.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def server():
    with serving() as running:
        yield running


def run(tmp_path, variables, *arguments):
    environment = {**conftest.clean_environment(), **variables}
    command = [conftest.TOOL, "-q", "-sS", "--max-time", "30", *arguments]
    done = subprocess.run(command, capture_output=True, env=environment, cwd=tmp_path, timeout=60)
    return conftest.Ran(done)


def test_an_archive_is_read_by_haralyzer(tmp_path, server):
    ran = run(tmp_path, {"WARMWIRE_HAR": "a.har"}, "-L", "-b", "a=hidden", "-d", "x=1", "--post302", f"{server.url}/post", f"{server.url}/missing")
    assert ran.code == 0, ran
    text = (tmp_path / "a.har").read_text()
    assert "hidden" not in text
    entries = HarParser(json.loads(text)).har_data["entries"]
    parser = HarParser(json.loads(text))
    assert parser.creator["name"] == "Warmwire"
    assert [entry["request"]["method"] for entry in entries] == ["POST", "POST"]
    for entry in entries:
        total = sum(time for name, time in entry["timings"].items() if time > 0 and name != "ssl")
        assert abs(total - entry["time"]) < 0.01
    assert parser.match_http_version(entries[0], "HTTP/1.1")
    assert parser.match_status_code(entries[0], "200")


def test_a_picture_is_xml(tmp_path, server):
    assert run(tmp_path, {"WARMWIRE_TIMELINE": "a.svg"}, f"{server.url}/<a>&b", f"{server.url}/c").code == 0
    root = xml.etree.ElementTree.parse(tmp_path / "a.svg").getroot()
    assert root.tag.endswith("svg")
    assert "2 transfers over 1 connection" in "".join(root.itertext())


def test_each_line_of_the_log_is_an_object(tmp_path, server):
    ran = run(tmp_path, {"WARMWIRE_LOG": "debug:a.log"}, "-L", f"{server.url}/here?token=hidden", f"{server.url}/b")
    assert ran.code == 0, ran
    text = (tmp_path / "a.log").read_text()
    assert "hidden" not in text
    lines = [json.loads(line) for line in text.splitlines()]
    kinds = [line["event"] for line in lines]
    assert kinds.count("request") == 3 and kinds.count("end") == 2 and "redirect" in kinds
    assert "connection-new" in kinds and "connection-reused" in kinds
    for transfer in {line["transfer"] for line in lines}:
        times = [line["at_ms"] for line in lines if line["transfer"] == transfer and "at_ms" in line]
        assert times == sorted(times)


def spans(server):
    """Parses the exports with OpenTelemetry's messages; identifiers are hexadecimal in this form of JSON."""

    def by_base64(value):
        if isinstance(value, list):
            return [by_base64(one) for one in value]
        if not isinstance(value, dict):
            return value
        ids = ("traceId", "spanId", "parentSpanId")
        return {
            name: base64.b64encode(bytes.fromhex(one)).decode() if name in ids else by_base64(one)
            for name, one in value.items()
        }

    found = []
    for headers, body in server.exports:
        assert headers["Content-Type"] == "application/json"
        assert headers["traceparent"] is None
        request = json_format.ParseDict(by_base64(json.loads(body)), ExportTraceServiceRequest())
        for resource in request.resource_spans:
            names = {pair.key: pair.value.string_value for pair in resource.resource.attributes}
            assert names["service.name"]
            for scope in resource.scope_spans:
                assert scope.scope.name == "warmwire"
                found.extend(scope.spans)
    for span in found:
        assert len(span.trace_id) == 16 and len(span.span_id) == 8
        assert 0 < span.start_time_unix_nano <= span.end_time_unix_nano
    return found


def attribute(span, name):
    for pair in span.attributes:
        if pair.key == name:
            return getattr(pair.value, pair.value.WhichOneof("value"))
    return None


def test_spans_are_opentelemetrys(tmp_path, server):
    collector = {"WARMWIRE_TRACE": f"otlp:{server.url}"}
    assert run(tmp_path, collector, f"{server.url}/a?token=hidden", f"{server.url}/missing").code == 0
    found = spans(server)
    clients = [span for span in found if span.kind == Span.SPAN_KIND_CLIENT]
    assert [span.name for span in clients] == ["GET", "GET"]
    assert [attribute(span, "http.response.status_code") for span in clients] == [200, 404]
    assert [attribute(span, "warmwire.connection") for span in clients] == ["new", "reused"]
    assert [span.status.code for span in clients] == [Status.STATUS_CODE_UNSET, Status.STATUS_CODE_ERROR]
    assert attribute(clients[0], "url.full") == f"{server.url}/a?token=(redacted)"
    assert attribute(clients[0], "server.port") == server.server_address[1]
    assert clients[0].trace_id != clients[1].trace_id
    connects = [span for span in found if span.name == "connect"]
    assert [span.parent_span_id for span in connects] == [clients[0].span_id]
    # The server got the field of each request's own span.
    sent = [headers["traceparent"] for _, headers in server.requests]
    assert sent == [f"00-{span.trace_id.hex()}-{span.span_id.hex()}-01" for span in clients]


def test_a_trace_is_passed_on(tmp_path, server):
    variables = {"WARMWIRE_TRACE": f"otlp:{server.url}/v1/traces", "TRACEPARENT": PARENT}
    own = "traceparent: 00-11111111111111111111111111111111-2222222222222222-01"
    assert run(tmp_path, variables, f"{server.url}/a", "--next", "-sS", "-H", own, f"{server.url}/b").code == 0
    by_variable, by_field = [span for span in spans(server) if span.kind == Span.SPAN_KIND_CLIENT]
    assert (by_variable.trace_id.hex(), by_variable.parent_span_id.hex()) == tuple(PARENT.split("-")[1:3])
    assert (by_field.trace_id.hex(), by_field.parent_span_id.hex()) == ("11" * 16, "22" * 8)
    assert server.requests[1][1]["traceparent"] == own.split(": ")[1]


def test_an_unsampled_trace_is_passed_on_without_spans(tmp_path, server):
    variables = {"WARMWIRE_TRACE": f"otlp:{server.url}", "TRACEPARENT": PARENT.replace("-01", "-00")}
    assert run(tmp_path, variables, f"{server.url}/a").code == 0
    assert server.requests[0][1]["traceparent"].startswith(PARENT[:36])
    assert server.requests[0][1]["traceparent"].endswith("-00")
    assert server.exports == []


@pytest.mark.parametrize("path, hosts, sent", [
    ("/elsewhere", "", [True, False]),
    ("/here", "", [True, True]),
    ("/here", "example.org", [False, False]),
    ("/here", "example.org,127.0.0.1", [True, True]),
])
def test_hosts_that_get_the_field(tmp_path, server, path, hosts, sent):
    variables = {"WARMWIRE_TRACE": f"otlp:{server.url}", "WARMWIRE_TRACE_HOSTS": hosts}
    assert run(tmp_path, variables, "-L", f"{server.url}{path}").code == 0
    assert ["traceparent" in headers for _, headers in server.requests] == sent
    first, second = [span for span in spans(server) if span.kind == Span.SPAN_KIND_CLIENT]
    assert first.trace_id == second.trace_id and second.parent_span_id == first.span_id
    assert attribute(second, "http.request.resend_count") == 1


def test_the_collector_of_opentelemetry_takes_spans(tmp_path, server):
    program = conftest.target() / "otelcol-go" / "server"
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    settings = [
        f"receivers::otlp::protocols::http::endpoint: {address}",
        "exporters::debug::verbosity: detailed",
        "service::telemetry::metrics::level: none",
        "service::pipelines::traces::receivers: [otlp]",
        "service::pipelines::traces::exporters: [debug]",
    ]
    log = tmp_path / "collector.log"
    with log.open("wb") as output:
        collector = subprocess.Popen([program, *(f"--config=yaml:{one}" for one in settings)], stdout=output, stderr=output)
        try:
            wait_for(lambda: "Everything is ready" in log.read_text())
            variables = {"WARMWIRE_TRACE": f"otlp:http://{address}", "TRACEPARENT": PARENT, "OTEL_SERVICE_NAME": "judged"}
            ran = run(tmp_path, variables, f"{server.url}/missing?token=hidden")
            assert (ran.code, ran.err) == (0, "")
            wait_for(lambda: "http.response.status_code" in log.read_text())
        finally:
            collector.terminate()
            collector.wait()
    facts = [" ".join(line.split()) for line in log.read_text().splitlines()]
    for fact in (
        "-> service.name: Str(judged)",
        "InstrumentationScope warmwire",
        f"Trace ID : {PARENT.split('-')[1]}",
        f"Parent ID : {PARENT.split('-')[2]}",
        "Name : GET",
        "Kind : Client",
        "Status code : Error",
        "-> http.request.method: Str(GET)",
        "-> http.response.status_code: Int(404)",
        f"-> url.full: Str({server.url}/missing?token=(redacted))",
    ):
        assert any(fact in line for line in facts), (fact, facts)


def wait_for(is_done, seconds=30):
    end = time.monotonic() + seconds
    while not is_done():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.02)


def test_a_collector_that_refuses_costs_no_transfer(tmp_path, server):
    server.verdict = 503
    ran = run(tmp_path, {"WARMWIRE_TRACE": f"otlp:{server.url}"}, f"{server.url}/a")
    assert (ran.code, ran.out) == (0, b"text")
    assert "spans were not exported" in ran.err and "cannot export" in ran.err


def test_a_collector_that_is_silent_delays_the_end_by_200_ms_at_most(tmp_path, server):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        variables = {"WARMWIRE_TRACE": f"otlp:http://127.0.0.1:{silent.getsockname()[1]}"}
        started = time.monotonic()
        ran = run(tmp_path, {}, f"{server.url}/a")
        without = time.monotonic() - started
        started = time.monotonic()
        ran = run(tmp_path, variables, f"{server.url}/a")
        assert ran.code == 0 and "spans were not exported" in ran.err
        assert time.monotonic() - started < without + 2.0
