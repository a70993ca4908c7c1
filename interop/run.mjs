#!/usr/bin/env node
// Judges real, pinned MCP servers and holds the outcome against reviewed lists.
//
//   node interop/run.mjs [--all] [--repeat N] [--update] [PEER…]
//
// Peers are installed into a cache folder outside the tree. Each is started by
// mcp-conform itself, over stdio or HTTP. The run fails on a crash, a hang, a
// harness error, a process that is left behind, or when the requirements that a
// peer fails are not exactly those of expected/PEER.txt, each time anew. Each
// line there was judged against the text of the specification; its comment says
// how. --update rewrites the lists and keeps the comments: review the difference
// before committing it. --all takes the peers that are not run in CI as well;
// a peer that is named is run in any case.

import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(here);
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "mcp-conform-interop");
const limitSeconds = 300;

// What is judged is this checkout, while others may run from the same cache.
const own = mkdtempSync(join(tmpdir(), "mcp-conform-interop-"));
const mcpConform = join(own, "mcp-conform");
process.on("exit", () => rmSync(own, { recursive: true, force: true }));

// Go peers: one folder of the cache each; the binary is named for the package.
const goSDK = "github.com/modelcontextprotocol/go-sdk";
const mcpGo = "github.com/mark3labs/mcp-go";
const goPackages = {
  "go-sdk-1.8.0": `${goSDK}/conformance/everything-server@v1.8.0`,
  "go-sdk-1.6.1": `${goSDK}/conformance/everything-server@v1.6.1`,
  "go-sdk-1.4.1": `${goSDK}/conformance/everything-server@v1.4.1`,
  "go-sdk-1.2.0": `${goSDK}/examples/server/conformance@v1.2.0`,
  "mcp-go-1.2.1-fixture": `${mcpGo}/examples/conformance@v1.2.1`,
  "mcp-go-1.2.1-everything": `${mcpGo}/examples/everything@v1.2.1`,
};
const go = (id) => ({ install: () => installGo(id), path: join(cache, id, goPackages[id].split("/").pop().split("@")[0]) });

// npm peers: "node" is what CI needs, "more" is the rest, with two small servers
// of ours beside the packages that they import.
const npmFolders = { node: { source: here, servers: [] }, more: { source: join(here, "more"), servers: ["typescript-1.mjs", "typescript-2.mjs"] } };
const npm = (folder, script) => ({ install: () => installNpm(folder), path: join(cache, folder, script) });

const sdk180 = go("go-sdk-1.8.0"), sdk161 = go("go-sdk-1.6.1"), sdk141 = go("go-sdk-1.4.1"), sdk120 = go("go-sdk-1.2.0");
const everything = npm("node", "node_modules/@modelcontextprotocol/server-everything/dist/index.js");
const memory = npm("more", "node_modules/@modelcontextprotocol/server-memory/dist/index.js");
const filesystem = npm("more", "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");
const playwright = npm("more", "node_modules/@playwright/mcp/cli.js");
const chrome = npm("more", "node_modules/chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js");
const typescript1 = npm("more", "typescript-1.mjs"), typescript2 = npm("more", "typescript-2.mjs");

// PORT in an argument, the URL or the environment stands for a free port, FILES
// for a folder that a server may write to.
const peers = [
  { id: "go-sdk-1.8.0-stdio", ci: true, from: sdk180, command: [sdk180.path] },
  { id: "go-sdk-1.8.0-http", ci: true, from: sdk180, command: [sdk180.path, "-http=localhost:PORT", "-stateless=false"], url: "http://localhost:PORT/" },
  { id: "go-sdk-1.8.0-http-stateless", ci: true, from: sdk180, command: [sdk180.path, "-http=localhost:PORT"], url: "http://localhost:PORT/" },
  { id: "go-sdk-1.2.0-stdio", ci: true, from: sdk120, command: [sdk120.path] },
  { id: "go-sdk-1.2.0-http", ci: true, from: sdk120, command: [sdk120.path, "-http=localhost:PORT"], url: "http://localhost:PORT/" },
  { id: "server-everything-stdio", ci: true, from: everything, command: ["node", everything.path, "stdio"] },
  { id: "server-everything-http", ci: true, from: everything, command: ["node", everything.path, "streamableHttp"], url: "http://localhost:PORT/mcp", env: { PORT: "PORT" } },
  { id: "go-sdk-1.6.1-stdio", from: sdk161, command: [sdk161.path] },
  { id: "go-sdk-1.6.1-http", from: sdk161, command: [sdk161.path, "-http=localhost:PORT"], url: "http://localhost:PORT/" },
  { id: "go-sdk-1.4.1-stdio", from: sdk141, command: [sdk141.path] },
  { id: "go-sdk-1.4.1-http", from: sdk141, command: [sdk141.path, "-http=localhost:PORT"], url: "http://localhost:PORT/" },
  { id: "mcp-go-1.2.1-http", from: go("mcp-go-1.2.1-fixture"), command: [go("mcp-go-1.2.1-fixture").path], url: "http://127.0.0.1:PORT/mcp", env: { CONFORMANCE_ADDR: "127.0.0.1:PORT" } },
  { id: "mcp-go-1.2.1-stdio", from: go("mcp-go-1.2.1-everything"), command: [go("mcp-go-1.2.1-everything").path, "-t", "stdio"] },
  { id: "server-filesystem-stdio", from: filesystem, command: ["node", filesystem.path, "FILES"] },
  { id: "server-memory-stdio", from: memory, command: ["node", memory.path], env: { MEMORY_FILE_PATH: join("FILES", "memory.json") } },
  { id: "playwright-stdio", from: playwright, command: ["node", playwright.path, "--headless"] },
  { id: "chrome-devtools-stdio", from: chrome, command: ["node", chrome.path, "--headless", "--no-usage-statistics"] },
  { id: "typescript-sdk-1-stdio", from: typescript1, command: ["node", typescript1.path] },
  { id: "typescript-sdk-1-http", from: typescript1, command: ["node", typescript1.path, "PORT"], url: "http://127.0.0.1:PORT/mcp" },
  { id: "typescript-sdk-2-stdio", from: typescript2, command: ["node", typescript2.path] },
  { id: "typescript-sdk-2-http", from: typescript2, command: ["node", typescript2.path, "PORT"], url: "http://127.0.0.1:PORT/mcp" },
];

function installGo(id) {
  if (existsSync(go(id).path)) return;
  console.log(`installing ${goPackages[id]}`);
  const dir = mk(join(cache, id));
  execFileSync("go", ["install", goPackages[id]], { env: { ...process.env, GOBIN: dir, GOFLAGS: "" }, stdio: "inherit", cwd: dir });
}

function installNpm(folder) {
  const { source, servers } = npmFolders[folder];
  const dir = mk(join(cache, folder));
  for (const f of servers) copyFileSync(join(source, f), join(dir, f));
  const lock = readFileSync(join(source, "package-lock.json"), "utf8");
  const done = join(dir, "installed-lock.json"); // written last: an install that broke off is done again
  if (existsSync(done) && readFileSync(done, "utf8") === lock) return;
  console.log(`installing the npm peers of ${join(source, "package.json")}`);
  for (const f of ["package.json", "package-lock.json"]) copyFileSync(join(source, f), join(dir, f));
  const env = { ...process.env, PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: "1", PUPPETEER_SKIP_DOWNLOAD: "1" };
  execFileSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: dir, stdio: "inherit", env });
  writeFileSync(done, lock);
}

function mk(dir) {
  mkdirSync(dir, { recursive: true });
  return dir;
}

function freePort() {
  return new Promise((resolve, reject) => {
    const s = createServer().on("error", reject);
    s.listen(0, "127.0.0.1", () => {
      const { port } = s.address();
      s.close(() => resolve(String(port)));
    });
  });
}

async function judge(peer) {
  const port = await freePort();
  const fill = (s) => s.replaceAll("PORT", port).replaceAll("FILES", join(own, "files"));
  const args = ["run", "--json", ...(peer.url ? ["--url", fill(peer.url)] : []), "--", ...peer.command.map(fill)];
  const mark = `MCP_CONFORM_INTEROP=${process.pid}-${port}`; // on all that this run starts
  const env = { ...process.env, MCP_CONFORM_INTEROP: mark.split("=")[1] };
  for (const [k, v] of Object.entries(peer.env || {})) env[k] = fill(v);
  const child = spawn(mcpConform, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let out = "", err = "";
  child.stdout.on("data", (d) => (out += d));
  child.stderr.on("data", (d) => (err += d));
  const timer = setTimeout(() => child.kill("SIGKILL"), limitSeconds * 1000);
  const [code, signal] = await new Promise((r) => child.on("close", (c, s) => r([c, s])));
  clearTimeout(timer);
  const left = endLeftOvers(mark);
  if (signal) throw new Error(`mcp-conform did not end within ${limitSeconds} s`);
  if (code > 1) throw new Error(`mcp-conform ended with exit code ${code}:\n${err.slice(-2000)}`);
  if (left.length > 0) throw new Error(`left behind: ${left.join("; ")}`);
  const report = JSON.parse(out);
  if (report.harness.length > 0) throw new Error(`harness errors:\n  ${report.harness.join("\n  ")}`);
  if (report.scores.length === 0) throw new Error("nothing was judged");
  return report;
}

// endLeftOvers ends the processes that carry the mark in their environment, and
// names them. Without /proc nothing can be said.
function endLeftOvers(mark) {
  const left = [];
  const read = (pid, what) => {
    try {
      return readFileSync(join("/proc", pid, what), "utf8").split("\0");
    } catch {
      return []; // it has ended, or belongs to someone else
    }
  };
  for (const pid of existsSync("/proc/self/environ") ? readdirSync("/proc") : []) {
    if (!/^\d+$/.test(pid) || !read(pid, "environ").includes(mark)) continue;
    left.push(`${pid} ${read(pid, "cmdline").join(" ").trim()}`);
    try {
      process.kill(Number(pid), "SIGKILL");
    } catch {
      // it has ended meanwhile
    }
  }
  return left;
}

// A failed requirement is one line: revision, level, side, id.
const failed = (report) =>
  report.requirements.filter((q) => q.verdict === "fail").map((q) => `${q.revision} ${q.level} ${q.side} ${q.id}`).sort();

const listOf = (id) => join(here, "expected", id + ".txt");

function readExpected(id) {
  const comments = new Map();
  if (!existsSync(listOf(id))) return comments;
  for (const line of readFileSync(listOf(id), "utf8").split("\n")) {
    const [key, ...comment] = line.split("#");
    if (key.trim() !== "") comments.set(key.trim(), comment.join("#").trim());
  }
  return comments;
}

function compare(id, lines) {
  const expected = readExpected(id);
  const reviewed = (l) => expected.get(l) && !expected.get(l).startsWith("NOT REVIEWED");
  return [
    ...lines.filter((l) => !expected.has(l)).map((l) => `fails, not in the list: ${l}`),
    ...[...expected.keys()].filter((l) => !lines.includes(l)).map((l) => `in the list, does not fail: ${l}`),
    ...lines.filter((l) => expected.has(l) && !reviewed(l)).map((l) => `not reviewed: ${l}`),
  ];
}

function update(id, lines) {
  const expected = readExpected(id);
  writeFileSync(listOf(id), lines.map((l) => `${l}  # ${expected.get(l) || "NOT REVIEWED"}\n`).join(""));
}

function scores(report) {
  return report.scores.map((s) => `\n      ${s.revision} ${s.verdict}, MUST ${s.must.passed}/${s.must.passed + s.must.failed} of ${s.must.applicable}, SHOULD ${s.should.passed}/${s.should.passed + s.should.failed} of ${s.should.applicable}`).join("");
}

async function run(peer, options) {
  const started = Date.now();
  let problems, line = "";
  try {
    const report = await judge(peer);
    line = scores(report);
    if (options.update) update(peer.id, failed(report));
    problems = compare(peer.id, failed(report));
  } catch (e) {
    problems = [e.message];
  }
  console.log(`${problems.length ? "FAIL" : "ok  "}  ${peer.id}  ${((Date.now() - started) / 1000).toFixed(1)} s${line}`);
  for (const p of problems) console.log(`      ${p}`);
  return problems.length === 0;
}

async function main() {
  const { values: options, positionals: ids } = parseArgs({
    allowPositionals: true,
    options: { all: { type: "boolean" }, update: { type: "boolean" }, repeat: { type: "string", default: "1" } },
  });
  const repeat = Number(options.repeat);
  if (!Number.isInteger(repeat) || repeat < 1) throw new Error(`--repeat ${options.repeat}: want a number from 1`);
  const unknown = ids.filter((a) => !peers.some((p) => p.id === a));
  if (unknown.length > 0) throw new Error(`no peer ${unknown.join(", ")}; the peers are ${peers.map((p) => p.id).join(", ")}`);
  const chosen = peers.filter((p) => (ids.length > 0 ? ids.includes(p.id) : p.ci || options.all));
  for (const from of new Set(chosen.map((p) => p.from))) from.install();
  mk(join(own, "files"));
  execFileSync("go", ["build", "-o", mcpConform, "./cmd/mcp-conform"], { cwd: root, stdio: "inherit" });
  let good = 0;
  for (const peer of chosen) {
    for (let n = 0; n < repeat; n++) good += await run(peer, options);
  }
  const bad = chosen.length * repeat - good;
  console.log(`interop: ${good} passed, ${bad} failed`);
  process.exit(bad ? 1 : 0);
}

main().catch((e) => {
  console.error(`interop: ${e.message}`);
  process.exit(1);
});
