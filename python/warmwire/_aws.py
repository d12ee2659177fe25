"""Credentials for Amazon's services: environment, web identity, profile files, container and instance endpoints.

The order is that of Amazon's own programs. Temporary credentials are fetched again five minutes before they expire.
"""

from __future__ import annotations

import asyncio
import configparser
import json
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any
from urllib.parse import quote, urlsplit
from xml.etree import ElementTree

from ._client import AsyncClient
from ._errors import RequestError

_EARLY = 300.0
_CONTAINER = "http://169.254.170.2"
_INSTANCE = "http://169.254.169.254"
_ROLES = "/latest/meta-data/iam/security-credentials/"
# The addresses of ECS and EKS. Any other plain http server could read the token of the request.
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_CONTAINER_HOSTS = _LOOPBACK | {"169.254.170.2", "169.254.170.23", "fd00:ec2::23"}


class CredentialsError(PermissionError):
    """No credentials were found, or a source of credentials is unusable."""


@dataclass(frozen=True)
class Credentials:
    """An access key. ``expires`` is seconds since 1970, or None."""

    access_key: str
    secret_key: str = field(repr=False)
    token: str | None = field(default=None, repr=False)
    expires: float | None = None

    def is_stale(self, now: float) -> bool:
        """Returns whether the credentials should be fetched again."""
        return self.expires is not None and now >= self.expires - _EARLY


class Profile:
    """A profile of ``~/.aws/credentials`` and ``~/.aws/config``; the former wins."""

    def __init__(self, name: str | None = None, environment: Mapping[str, str] | None = None) -> None:
        self.environment = os.environ if environment is None else environment
        self.is_chosen = name is not None
        self.name = name or self.environment.get("AWS_PROFILE") or "default"
        self.values: dict[str, str] = {}
        config = self._read("AWS_CONFIG_FILE", "~/.aws/config")
        shared = self._read("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials")
        section = "default" if self.name == "default" else f"profile {self.name}"
        is_found = False
        for file, title in ((config, section), (shared, self.name)):
            if file.has_section(title):
                is_found = True
                self.values.update(file.items(title))
        if not is_found and (self.is_chosen or self.environment.get("AWS_PROFILE")):
            raise CredentialsError(f"profile {self.name!r} is neither in AWS_SHARED_CREDENTIALS_FILE nor in AWS_CONFIG_FILE")

    def _read(self, variable: str, usual: str) -> configparser.RawConfigParser:
        # Values may contain "%"; a file without any section is a mistake worth an error.
        path = os.path.expanduser(self.environment.get(variable) or usual)
        file = configparser.RawConfigParser(default_section="\0", strict=False)
        try:
            file.read(path, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError) as error:
            raise CredentialsError(f"{path} cannot be parsed: {error}") from error
        return file

    def credentials(self) -> Credentials | None:
        """Returns the profile's keys; None if it has none."""
        key, secret = self.values.get("aws_access_key_id"), self.values.get("aws_secret_access_key")
        if key and secret:
            return Credentials(key, secret, self.values.get("aws_session_token") or None)
        # With web_identity_token_file, a role has been asked for before.
        for name in ("role_arn", "credential_process", "sso_session", "sso_start_url"):
            if name in self.values and (self.is_chosen or self.environment.get("AWS_PROFILE")):
                raise CredentialsError(f"profile {self.name!r} uses {name}, which is not supported: export its keys to the environment")
        return None

    def setting(self, name: str, *variables: str) -> str | None:
        """Returns the first of these environment variables that is set, or else a value of the profile."""
        for variable in variables:
            if self.environment.get(variable):
                return self.environment[variable]
        return self.values.get(name) or None


class CredentialSource:
    """Finds credentials and keeps them until they are stale. Threads and loops may share it."""

    def __init__(self, profile: Profile) -> None:
        self._profile, self._environment = profile, profile.environment
        self._held: Credentials | None = None
        self._lock = threading.Lock()
        self._renewing: dict[Any, asyncio.Task[Credentials]] = {}

    async def get(self) -> Credentials:
        """Returns valid credentials. Requests of one loop that wait for new ones share one lookup."""
        held = self._held
        if held is not None and not held.is_stale(time.time()):
            return held
        loop = asyncio.get_running_loop()
        with self._lock:
            task = self._renewing.get(loop)
            if task is None:
                task = self._renewing[loop] = loop.create_task(self._renew(loop))
        return await asyncio.shield(task)

    def forget(self) -> None:
        """Has the next request look for credentials again: the server has refused these as expired."""
        self._held = None

    async def _renew(self, loop: Any) -> Credentials:
        try:
            self._held = await self._find()
            return self._held
        finally:
            with self._lock:
                del self._renewing[loop]

    async def _find(self) -> Credentials:
        environment = self._environment
        if not self._profile.is_chosen:
            key, secret = environment.get("AWS_ACCESS_KEY_ID"), environment.get("AWS_SECRET_ACCESS_KEY")
            if key and secret:
                return Credentials(key, secret, environment.get("AWS_SESSION_TOKEN") or None)
            if key or secret:
                missing = "AWS_SECRET_ACCESS_KEY" if key else "AWS_ACCESS_KEY_ID"
                raise CredentialsError(f"{missing} is not set, but its counterpart is")
        found = await self._of_web_identity() or self._profile.credentials()
        if found is None:
            # Such an address is never reached through a proxy.
            async with AsyncClient(timeout=(1, 5), options={"NOPROXY": "*", "PROXY": ""}) as client:
                found = await self._of_container(client) or await self._of_instance(client)
        if found is None:
            raise CredentialsError(
                "no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or pass key= and secret=; "
                "anon=True sends requests without a signature"
            )
        return found

    async def _of_web_identity(self) -> Credentials | None:
        """Exchanges a token of the cluster for the keys of a role (EKS, and others with OpenID Connect)."""
        values = self._profile.values if self._profile.is_chosen else {**self._profile.values, **_web_identity(self._environment)}
        path, role = values.get("web_identity_token_file"), values.get("role_arn")
        if not path or not role:
            return None
        setting = self._profile.setting
        region = setting("region", "AWS_REGION", "AWS_DEFAULT_REGION")
        usual = f"https://sts.{region}.amazonaws.com" if region else "https://sts.amazonaws.com"
        url = setting("endpoint_url", "AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL") or usual
        parts = urlsplit(url)
        if parts.scheme != "https" and parts.hostname not in _LOOPBACK:
            raise CredentialsError(f"the endpoint of STS is {url}: a token is sent by https, or to loopback")
        try:
            with open(os.path.expanduser(path), encoding="utf-8") as file:
                token = file.read().strip()
        except OSError as error:
            raise CredentialsError(f"the token of a web identity: {error}") from error
        form = {
            "Action": "AssumeRoleWithWebIdentity",
            "Version": "2011-06-15",
            "RoleArn": role,
            "RoleSessionName": values.get("role_session_name") or f"warmwire-{time.time_ns()}",
            "WebIdentityToken": token,
        }
        async with AsyncClient(timeout=10) as client:
            return _of_role(url, await _fetched(client, "POST", url, {}, form))

    async def _of_container(self, client: AsyncClient) -> Credentials | None:
        environment = self._environment
        relative, whole = (environment.get(f"AWS_CONTAINER_CREDENTIALS_{kind}_URI") for kind in ("RELATIVE", "FULL"))
        if not relative and not whole:
            return None
        url = _CONTAINER + relative if relative else whole or ""
        parts = urlsplit(url)
        if parts.scheme != "https" and parts.hostname not in _CONTAINER_HOSTS:
            raise CredentialsError(f"AWS_CONTAINER_CREDENTIALS_FULL_URI is {url}: plain http is for loopback and containers' addresses")
        token = environment.get("AWS_CONTAINER_AUTHORIZATION_TOKEN", "")
        if path := environment.get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"):
            with open(path, encoding="utf-8") as file:
                token = file.read().strip()
        if "\r" in token or "\n" in token:
            raise CredentialsError("the container's authorization token has a line end in it")
        return _parsed(url, await _fetched(client, "GET", url, {"Authorization": token} if token else {}))

    async def _of_instance(self, client: AsyncClient) -> Credentials | None:
        environment = self._environment
        if environment.get("AWS_EC2_METADATA_DISABLED", "").lower() == "true":
            return None
        root = (environment.get("AWS_EC2_METADATA_SERVICE_ENDPOINT") or _INSTANCE).rstrip("/")
        try:
            # Version 2 alone: version 1 answers what a page in a browser can ask.
            token = await _fetched(client, "PUT", root + "/latest/api/token", {"X-aws-ec2-metadata-token-ttl-seconds": "21600"})
        except CredentialsError:
            return None  # no instance of Amazon's
        headers = {"X-aws-ec2-metadata-token": token.strip()}
        role = (await _fetched(client, "GET", root + _ROLES, headers)).strip().partition("\n")[0]
        url = root + _ROLES + quote(role)
        return _parsed(url, await _fetched(client, "GET", url, headers))


def _web_identity(environment: Mapping[str, str]) -> dict[str, str]:
    """Returns what the environment says of a web identity, by the names of a profile."""
    names = {name: environment.get(f"AWS_{name.upper()}") for name in ("web_identity_token_file", "role_arn", "role_session_name")}
    return {name: value for name, value in names.items() if value}


async def _fetched(client: AsyncClient, method: str, url: str, headers: dict[str, str], form: dict[str, str] | None = None) -> str:
    error: Exception | None = None
    for pause in (0.1, 0.4, 0):
        try:
            reply = await client.request(method, url, headers=headers, data=form)
        except RequestError as failure:
            raise CredentialsError(f"credentials from {url}: {failure}") from failure
        if reply.status_code == 200:
            return reply.text
        error = CredentialsError(f"credentials from {url}: {reply.status_code} {reply.reason_phrase}")
        if reply.status_code < 500:
            break
        await asyncio.sleep(pause)
    raise error or CredentialsError(url)


def _of_role(url: str, text: str) -> Credentials:
    try:
        values = {element.tag.rpartition("}")[2]: element.text for element in ElementTree.fromstring(text).iter()}  # noqa: S314
        moment = datetime.strptime((values["Expiration"] or "")[:19], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)
        key, secret = values["AccessKeyId"] or "", values["SecretAccessKey"] or ""
        return Credentials(key, secret, values["SessionToken"], moment.timestamp())
    except (ValueError, KeyError, ElementTree.ParseError) as error:
        raise CredentialsError(f"credentials from {url}: not the expected XML ({error!r})") from error


def _parsed(url: str, text: str) -> Credentials:
    try:
        values = json.loads(text)
        moment = datetime.strptime(values["Expiration"][:19], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)
        return Credentials(values["AccessKeyId"], values["SecretAccessKey"], values.get("Token") or None, moment.timestamp())
    except (ValueError, KeyError, TypeError) as error:
        raise CredentialsError(f"credentials from {url}: not the expected JSON ({error!r})") from error


class FixedSource:
    """Credentials that were given as arguments."""

    def __init__(self, credentials: Credentials) -> None:
        self._held = credentials

    async def get(self) -> Credentials:
        """Returns the credentials."""
        return self._held

    def forget(self) -> None:
        """Does nothing: there are no others."""


__all__ = ["CredentialSource", "Credentials", "CredentialsError", "FixedSource", "Profile"]
