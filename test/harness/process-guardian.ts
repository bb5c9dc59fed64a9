/**
 * Ends every process and removes every file of a test file when its standard input ends, which happens with the
 * process at the other end, however that ends. Its first line of input is the directory of the files, which every
 * process has in its command line or environment. A later line `keep` keeps the files.
 */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

const lines = createInterface({ input: process.stdin })
let directory = ''
let kept = false
lines.on('line', (line) => {
  if (line === 'keep') kept = true
  else directory = line
})
await once(lines, 'close')
if (directory !== '') {
  // Checked twice: a process that was just being started appears a moment later.
  for (let quiet = 0; quiet < 2; ) {
    const found = mentioning(directory)
    for (const pid of found) kill(pid)
    quiet = found.length === 0 ? quiet + 1 : 0
    await sleep(20)
  }
  for (const place of mountedIn(directory)) execFileSync('umount', ['--lazy', place])
  if (!kept) rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
}

/** File systems that a test has mounted, to fill its disk. */
function mountedIn(path: string): string[] {
  if (process.platform !== 'linux') return []
  return readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .flatMap((line) => line.split(' ')[1] ?? [])
    .filter((place) => place.startsWith(`${path}/`))
}

function mentioning(text: string): number[] {
  if (process.platform !== 'linux') {
    const table = execFileSync('ps', ['-axEww', '-o', 'pid=,command='], { encoding: 'utf8' })
    return table.split('\n').flatMap((line) => (line.includes(text) ? [Number.parseInt(line, 10)] : []))
  }
  return readdirSync('/proc').flatMap((name) =>
    /^\d+$/.test(name) && (holds(name, 'cmdline', text) || holds(name, 'environ', text))
      ? [Number(name)]
      : [],
  )
}

function holds(pid: string, file: string, text: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1').includes(text)
  } catch {
    return false
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has already ended.
  }
}
