#!/usr/bin/env node
// Runs the command on Node 24, which comes as the npm package `node`, even where the system's Node is older.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import * as module from 'node:module'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
// A clone has the sources and runs them; the npm package has none, since Node strips no types under `node_modules`.
const isClone = existsSync(here('../src/cli/keyledger.ts'))
const program = here(isClone ? '../src/cli/keyledger.ts' : '../dist/src/cli/keyledger.js')
// Compiling every file at every start costs more than most commands do. The embedded event store, a process of its
// own, keeps its files there too. Where nobody may write there, Node goes on without.
process.env.NODE_COMPILE_CACHE ??= here(`${isClone ? '../node_modules' : '../..'}/.cache/keyledger`)

if (Number(process.versions.node.split('.')[0]) >= 24) {
  module.enableCompileCache(process.env.NODE_COMPILE_CACHE)
  await import(program)
} else {
  const bundled = bundledNode()
  if (bundled === undefined) {
    process.stderr.write(
      `keyledger needs Node 24; this is ${process.version}. The npm package \`node\` installs one in its install ` +
        `script: run \`${isClone ? 'npm ci' : 'npm rebuild node'} --ignore-scripts=false\` in ` +
        `${isClone ? "keyledger's directory" : 'the project that keyledger is installed in'}, or put a Node 24 on ` +
        'your PATH.\n',
    )
    process.exit(2)
  }
  const child = spawn(bundled, [program, ...process.argv.slice(2)], { stdio: 'inherit' })
  // A terminal sends its Ctrl-C to the child too, and a second one would mean "at once".
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'))
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal]
  })
}

/** Wherever npm has put it: beside keyledger, or within. */
function bundledNode() {
  try {
    const manifest = module.createRequire(import.meta.url).resolve('node/package.json')
    const node = join(dirname(manifest), 'bin/node')
    return existsSync(node) ? node : undefined
  } catch {
    return undefined
  }
}
