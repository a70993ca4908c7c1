#!/usr/bin/env node
// Judges real, pinned MCP servers and holds the outcome against reviewed lists.
//
//   node interop/run.mjs [--update] [PEER…]
//
// Peers are installed into a cache folder outside the tree. Each is started by
// mcp-conform itself, over stdio or HTTP. The run fails on a crash, a hang, a
// harness error, or when the requirements that a peer fails are not exactly
// those of expected/PEER.txt. Each line there was judged against the text of
// the specification; its comment says how. --update rewrites the lists and keeps
// the comments: review the difference before committing it.

import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(here);
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "mcp-conform-interop");
const limitSeconds = 300;

const goPackages = {
  "go-sdk-1.8.0": "github.com/modelcontextprotocol/go-sdk/conformance/everything-server@v1.8.0",
  "go-sdk-1.2.0": "github.com/modelcontextprotocol/go-sdk/examples/server/conformance@v1.2.0",
};
const everything = join(cache, "node/node_modules/@modelcontextprotocol/server-everything/dist/index.js");
const go = (id) => join(cache, id, goPackages[id].split("/").pop().split("@")[0]);

// PORT in an argument, the URL or the environment stands for a free port.
const peers = [
  { id: "go-sdk-1.8.0-stdio", command: [go("go-sdk-1.8.0")] },
  { id: "go-sdk-1.8.0-http", command: [go("go-sdk-1.8.0"), "-http=localhost:PORT", "-stateless=false"], url: "http://localhost:PORT/" },
  { id: "go-sdk-1.8.0-http-stateless", command: [go("go-sdk-1.8.0"), "-http=localhost:PORT"], url: "http://localhost:PORT/" },
  { id: "go-sdk-1.2.0-stdio", command: [go("go-sdk-1.2.0")] },
  { id: "go-sdk-1.2.0-http", command: [go("go-sdk-1.2.0"), "-http=localhost:PORT"], url: "http://localhost:PORT/" },
  { id: "server-everything-stdio", command: ["node", everything, "stdio"] },
  { id: "server-everything-http", command: ["node", everything, "streamableHttp"], url: "http://localhost:PORT/mcp", env: { PORT: "PORT" } },
];

function install() {
  for (const [id, pkg] of Object.entries(goPackages)) {
    if (existsSync(go(id))) continue;
    console.log(`installing ${pkg}`);
    execFileSync("go", ["install", pkg], { env: { ...process.env, GOBIN: join(cache, id), GOFLAGS: "" }, stdio: "inherit", cwd: mk(join(cache, id)) });
  }
  const lock = readFileSync(join(here, "package-lock.json"), "utf8");
  const dir = mk(join(cache, "node"));
  const done = join(dir, "package-lock.json");
  if (!existsSync(everything) || !existsSync(done) || readFileSync(done, "utf8") !== lock) {
    console.log("installing the npm peers");
    for (const f of ["package.json", "package-lock.json"]) copyFileSync(join(here, f), join(dir, f));
    execFileSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: dir, stdio: "inherit" });
  }
  execFileSync("go", ["build", "-o", join(cache, "mcp-conform"), "./cmd/mcp-conform"], { cwd: root, stdio: "inherit" });
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
  const fill = (s) => s.replaceAll("PORT", port);
  const args = ["run", "--json", ...(peer.url ? ["--url", fill(peer.url)] : []), "--", ...peer.command.map(fill)];
  const env = { ...process.env };
  for (const [k, v] of Object.entries(peer.env || {})) env[k] = fill(v);
  const child = spawn(join(cache, "mcp-conform"), args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let out = "", err = "";
  child.stdout.on("data", (d) => (out += d));
  child.stderr.on("data", (d) => (err += d));
  const timer = setTimeout(() => child.kill("SIGKILL"), limitSeconds * 1000);
  const [code, signal] = await new Promise((r) => child.on("close", (c, s) => r([c, s])));
  clearTimeout(timer);
  if (signal) throw new Error(`mcp-conform did not end within ${limitSeconds} s`);
  if (code > 1) throw new Error(`mcp-conform ended with exit code ${code}:\n${err.slice(-2000)}`);
  const report = JSON.parse(out);
  if (report.harness.length > 0) throw new Error(`harness errors:\n  ${report.harness.join("\n  ")}`);
  if (report.scores.length === 0) throw new Error("nothing was judged");
  return report;
}

// A failed requirement is one line: revision, level, side, id.
const failed = (report) =>
  report.requirements.filter((q) => q.verdict === "fail").map((q) => `${q.revision} ${q.level} ${q.side} ${q.id}`).sort();

function readExpected(file) {
  const comments = new Map();
  if (!existsSync(file)) return comments;
  for (const line of readFileSync(file, "utf8").split("\n")) {
    const [key, ...comment] = line.split("#");
    if (key.trim() !== "") comments.set(key.trim(), comment.join("#").trim());
  }
  return comments;
}

function compare(id, lines, update) {
  const file = join(here, "expected", id + ".txt");
  const expected = readExpected(file);
  const unexpected = lines.filter((l) => !expected.has(l));
  const missing = [...expected.keys()].filter((l) => !lines.includes(l));
  if (update && unexpected.length + missing.length > 0) {
    writeFileSync(file, lines.map((l) => `${l}  # ${expected.get(l) || "NOT REVIEWED"}\n`).join(""));
    return [];
  }
  const open = lines.filter((l) => (expected.get(l) || "").startsWith("NOT REVIEWED"));
  return [
    ...unexpected.map((l) => `fails, not in the list: ${l}`),
    ...missing.map((l) => `in the list, does not fail: ${l}`),
    ...open.map((l) => `not reviewed: ${l}`),
  ];
}

function scores(report) {
  return report.scores.map((s) => `${s.revision} ${s.verdict}, MUST ${s.must.passed}/${s.must.passed + s.must.failed} of ${s.must.applicable}`).join("; ");
}

async function main() {
  const args = process.argv.slice(2);
  const update = args.includes("--update");
  const ids = args.filter((a) => !a.startsWith("--"));
  const unknown = ids.filter((a) => !peers.some((p) => p.id === a));
  if (unknown.length > 0) throw new Error(`no peer ${unknown.join(", ")}; the peers are ${peers.map((p) => p.id).join(", ")}`);
  install();
  let bad = 0, good = 0;
  for (const peer of peers.filter((p) => ids.length === 0 || ids.includes(p.id))) {
    const started = Date.now();
    let problems, line = "";
    try {
      const report = await judge(peer);
      line = scores(report);
      problems = compare(peer.id, failed(report), update);
    } catch (e) {
      problems = [e.message];
    }
    problems.length ? bad++ : good++;
    console.log(`${problems.length ? "FAIL" : "ok  "}  ${peer.id}  ${((Date.now() - started) / 1000).toFixed(1)} s  ${line}`);
    for (const p of problems) console.log(`      ${p}`);
  }
  console.log(`interop: ${good} passed, ${bad} failed`);
  process.exit(bad ? 1 : 0);
}

main().catch((e) => {
  console.error(`interop: ${e.message}`);
  process.exit(1);
});
