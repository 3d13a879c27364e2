"""The routes of the app. Handlers take checked values in and give plain ones out; refusals become answers here."""

import asyncio
import hmac
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

import bakeoff
from bakeoff.errors import BakeoffError
from bakeoff.files import disk_trouble
from bakeoff.web import asked, cases, launch
from bakeoff.web.arms import typed_arm
from bakeoff.web.events import Broadcast
from bakeoff.web.files import find_file
from bakeoff.web.guard import COOKIE, Access, App, Guard
from bakeoff.web.index import RunIndex
from bakeoff.web.jobs import Jobs
from bakeoff.web.logs import read_log
from bakeoff.web.pages import Pages
from bakeoff.web.pictures import read_picture
from bakeoff.web.place import Place
from bakeoff.web.problems import Refusal
from bakeoff.web.removal import delete_run
from bakeoff.web.tools import Tools

T = TypeVar("T", bound=msgspec.Struct)
Endpoint = Callable[[Request], Awaitable[Response]]


def make_app(place: Place, access: Access, jobs: Jobs) -> App:
    """Return the app behind its guard."""
    ui = _Ui(place, access, jobs)
    app = Starlette(
        routes=ui.routes(),
        exception_handlers={
            Refusal: ui.on_refusal,
            BakeoffError: ui.on_problem,
            HTTPException: ui.on_http,
            OSError: ui.on_disk,
        },
    )
    return Guard(app, access)


class _Ui:
    def __init__(self, place: Place, access: Access, jobs: Jobs) -> None:
        self._place = place
        self._access = access
        self._jobs = jobs
        self._index = RunIndex(place)
        self._tools = Tools(place)
        self._broadcast = Broadcast(jobs)
        self._pages = Pages(access)

    def routes(self) -> list[Route | Mount]:
        get, post = ["GET"], ["POST"]
        pages = {"/": "new", "/live": "live", "/runs": "runs", "/compare": "compare", "/cases": "cases"}
        run = "/api/runs/{run}"
        return [
            *(Route(path, self._page(name), methods=get) for path, name in pages.items()),
            Route("/runs/{run}.json", self._run, methods=get),
            Route("/runs/{run}", self._run_page, methods=get),
            Route("/enter", self._enter, methods=get),
            Route("/new.json", self._read(lambda: launch.launcher(self._place)), methods=get),
            Route("/runs.json", self._read(self._index.rows), methods=get),
            Route("/cases.json", self._read(cases.listed), methods=get),
            Route("/live.json", self._live, methods=get),
            Route("/api/machine", self._read(launch.machine), methods=get),
            Route("/api/token", self._token, methods=get),
            Route("/api/live/events", self._events, methods=get),
            Route("/api/jobs/{job}/log", self._log, methods=get),
            Route("/api/samples/{track}/{sample}/{digest}", self._picture, methods=get),
            Route("/api/cases/image", self._case_image, methods=get),
            Route("/api/arm", self._change(asked.Named, self._arm), methods=post),
            Route("/api/order", self._change(asked.Start, self._order), methods=post),
            Route("/api/sizes", self._change(asked.Sizes, self._sizes), methods=post),
            Route("/api/start", self._change(asked.Start, self._start), methods=post),
            Route("/api/stop", self._change(asked.Stop, self._stop), methods=post),
            Route("/api/compare", self._change(asked.Compare, self._compare), methods=post),
            Route(f"{run}/resume", self._change(asked.RunNamed, self._resume), methods=post),
            Route(f"{run}/report", self._change(asked.RunNamed, self._report), methods=post),
            Route(f"{run}/rescore", self._change(asked.Rescore, self._rescore), methods=post),
            Route(f"{run}/export", self._change(asked.Export, self._export), methods=post),
            Route(f"{run}/delete", self._change(asked.Delete, self._delete), methods=post),
            Route("/api/cases/save", self._change(cases.SaveCase, _aside(cases.save)), methods=post),
            Route("/api/cases/delete", self._change(cases.DeleteCase, _aside(cases.delete)), methods=post),
            Route("/api/cases/image", self._change(cases.NewImage, _aside(cases.store_image)), methods=post),
            Route("/api/cases/try", self._change(cases.TryCase, self._try), methods=post),
            Route(f"/files/{self._access.file_key}/{{kind}}/{{rest:path}}", self._file, methods=get),
            Route("/static/tokens.css", _tokens, methods=get),
            Mount("/static", StaticFiles(directory=Path(__file__).parent / "static")),
        ]

    # --- answers that change nothing ----------------------------------------------------------------------------------

    def _page(self, name: str) -> Endpoint:
        async def page(request: Request) -> Response:
            del request
            return Response(self._pages.render(name), media_type="text/html")

        return page

    async def _run_page(self, request: Request) -> Response:
        row = await asyncio.to_thread(lambda: self._index.row(self._place.run(request.path_params["run"]).path))
        return Response(self._pages.render("run", row=row), media_type="text/html")

    def _read(self, look: Callable[[], object]) -> Endpoint:
        async def read(request: Request) -> Response:
            del request
            return _json(await asyncio.to_thread(look))

        return read

    async def _live(self, request: Request) -> Response:
        del request
        state, _ = await self._broadcast.state()
        return Response(state, media_type="application/json")

    async def _run(self, request: Request) -> Response:
        return _json(await asyncio.to_thread(lambda: self._index.row(self._place.run(request.path_params["run"]).path)))

    async def _token(self, request: Request) -> Response:
        del request
        return _json({"token": self._access.change_token, "files": f"/files/{self._access.file_key}"})

    async def _enter(self, request: Request) -> Response:
        """Let a browser in that has the printed link."""
        known, given = self._access.link_token or "", request.query_params.get("token", "")
        if not known or not hmac.compare_digest(given.encode(), known.encode()):
            raise Refusal(401, "open the link that `bakeoff ui` printed; this one is from another start", "session")
        answer = RedirectResponse("/", status_code=303)
        answer.set_cookie(
            COOKIE, self._access.session, httponly=True, samesite="strict", secure=self._access.scheme == "https"
        )
        return answer

    async def _events(self, request: Request) -> Response:
        gone = asyncio.ensure_future(_disconnected(request))
        stream = self._broadcast.stream(gone.done)
        return StreamingResponse(stream, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})

    async def _log(self, request: Request) -> Response:
        job = await asyncio.to_thread(self._jobs.find, request.path_params["job"])
        if "from" in request.query_params:
            start = request.query_params["from"]
            if not start.isascii() or not start.isdigit() or len(start) > 15:  # noqa: PLR2004 -- a petabyte
                raise Refusal(400, "from: expected a number of bytes")
            return _json(await asyncio.to_thread(read_log, job.log, int(start)))
        return FileResponse(job.log, media_type="text/plain; charset=utf-8")

    async def _picture(self, request: Request) -> Response:
        content, kind = await asyncio.to_thread(read_picture, *(request.path_params[n] for n in _PICTURE))
        return Response(content, media_type=kind)

    async def _case_image(self, request: Request) -> Response:
        content, kind = await asyncio.to_thread(cases.read_image, request.query_params.get("path", ""))
        return Response(content, media_type=kind)

    async def _file(self, request: Request) -> Response:
        sent = await asyncio.to_thread(find_file, self._place, request.path_params["kind"], request.path_params["rest"])
        name = sent.path.name if sent.is_download else None
        return FileResponse(sent.path, media_type=sent.media_type, filename=name)

    # --- changes ------------------------------------------------------------------------------------------------------

    def _change(self, kind: type[T], act: Callable[[T, Request], Awaitable[object]]) -> Endpoint:
        decoder = msgspec.json.Decoder(kind)

        async def change(request: Request) -> Response:
            try:
                order = decoder.decode(await request.body())
            except msgspec.ValidationError as problem:
                raise Refusal(400, f"not what was expected: {problem}", "value") from problem
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
                raise Refusal(400, f"not JSON: {problem}", "json") from problem
            return _json(await act(order, request))

        return change

    async def _arm(self, order: asked.Named, request: Request) -> object:
        del request
        arm, problem = await asyncio.to_thread(typed_arm, order.name)
        return {"arm": arm, "problem": problem}

    async def _order(self, order: asked.Start, request: Request) -> object:
        del request
        return await asyncio.to_thread(launch.order, order, self._place, self._index)

    async def _sizes(self, order: asked.Sizes, request: Request) -> object:
        del request
        return await self._tools.sizes(order)

    async def _start(self, order: asked.Start, request: Request) -> object:
        del request
        return self._begun(await asyncio.to_thread(launch.start, order, self._place, self._jobs))

    async def _resume(self, order: asked.RunNamed, request: Request) -> object:
        del order
        run = request.path_params["run"]
        return self._begun(await asyncio.to_thread(launch.resume, run, self._place, self._jobs))

    async def _try(self, order: cases.TryCase, request: Request) -> object:
        del request
        if order.model is None:
            return await asyncio.to_thread(cases.try_output, order.case, order.output or "")
        return self._begun(await asyncio.to_thread(launch.try_on_arm, order, self._place, self._jobs))

    def _begun(self, job: Any) -> object:
        self._broadcast.forget()
        return {"job": job.plan.job, "run": Path(job.plan.run).name}

    async def _stop(self, order: asked.Stop, request: Request) -> object:
        del request
        job = await asyncio.to_thread(self._jobs.stop, order.job, order.how)
        self._broadcast.forget()
        return {"job": job.plan.job, "phase": job.phase}

    async def _compare(self, order: asked.Compare, request: Request) -> object:
        del request
        return await self._tools.compare(order)

    async def _report(self, order: asked.RunNamed, request: Request) -> object:
        del order
        return await self._tools.report(request.path_params["run"])

    async def _rescore(self, order: asked.Rescore, request: Request) -> object:
        return await self._tools.rescore(request.path_params["run"], order)

    async def _export(self, order: asked.Export, request: Request) -> object:
        return await self._tools.export(request.path_params["run"], order)

    async def _delete(self, order: asked.Delete, request: Request) -> object:
        run = request.path_params["run"]
        await asyncio.to_thread(delete_run, run, order.confirm, self._place)
        return {"run": run}

    # --- refusals -----------------------------------------------------------------------------------------------------

    async def on_refusal(self, request: Request, problem: Exception) -> Response:
        assert isinstance(problem, Refusal)  # noqa: S101 -- what Starlette promises
        return self._refusal(request, problem)

    async def on_problem(self, request: Request, problem: Exception) -> Response:
        return self._refusal(request, Refusal(400, str(problem), "usage"))

    async def on_disk(self, request: Request, problem: Exception) -> Response:
        """Say what the disk did not take; any other error of the system is a fault of ours."""
        trouble = disk_trouble(problem) if isinstance(problem, OSError) else None
        if trouble is None:
            raise problem
        return self._refusal(request, Refusal(507, f"{trouble}. Make room, then try again", "disk"))

    async def on_http(self, request: Request, problem: Exception) -> Response:
        assert isinstance(problem, HTTPException)  # noqa: S101 -- what Starlette promises
        return self._refusal(request, Refusal(problem.status_code, problem.detail, "http"))

    def _refusal(self, request: Request, refusal: Refusal) -> Response:
        wants_page = "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/api/")
        if wants_page:
            page = self._pages.render("refused", message=refusal.message, status=refusal.status)
            return Response(page, status_code=refusal.status, media_type="text/html")
        return _json({"error": refusal.message, "code": refusal.code}, refusal.status)


_PICTURE = ("track", "sample", "digest")


async def _tokens(_: Request) -> Response:
    """Return the colours and letters that the app shares with the report, whose code is not loaded for it."""
    return FileResponse(Path(bakeoff.__path__[0]) / "report" / "templates" / "tokens.css")


def _aside(act: Callable[[T], object]) -> Callable[[T, Request], Awaitable[object]]:
    """Run something that touches the disk beside the loop."""

    async def aside(order: T, request: Request) -> object:
        del request
        return await asyncio.to_thread(act, order)

    return aside


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _json(value: object, status: int = 200) -> Response:
    return Response(msgspec.json.encode(value), status_code=status, media_type="application/json")
