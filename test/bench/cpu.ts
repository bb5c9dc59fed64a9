import { readdirSync, readFileSync } from 'node:fs'

type Process = { pid: number; parent: number; ticks: number }

/** The unit of processor time in Linux: USER_HZ, 100 per second on every architecture that Node supports. */
const msPerTick = 10

/** Processor time of a process and all its descendants, also ended ones, in ms. */
export const cpuMsOfTree = (root: number): number =>
  treeOf(root).reduce((sum, { ticks }) => sum + ticks, 0) * msPerTick

/** Processor time of the children of this process that have ended, and of theirs, in ms. */
export function endedChildrenCpuMs(): number {
  const [user = 0, system = 0] = fieldsOf(readFileSync('/proc/self/stat', 'utf8')).slice(13, 15)
  return (user + system) * msPerTick
}

/** Memory of a process and its descendants in MiB; shared pages are counted proportionally. */
export function memoryMiBOfTree(root: number): number {
  const kib = treeOf(root).map(({ pid }) => {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
    return Number(/^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1] ?? 0)
  })
  return kib.reduce((sum, one) => sum + one, 0) / 1024
}

function treeOf(root: number): Process[] {
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap(processOf)
  const tree = new Set([root])
  // A child may have a lower pid than its parent, so repeat until no more are found.
  for (let size = 0; size !== tree.size; ) {
    size = tree.size
    for (const { pid, parent } of processes) if (tree.has(parent)) tree.add(pid)
  }
  return processes.filter(({ pid }) => tree.has(pid))
}

/** Returns none for a process that has just ended. */
function processOf(name: string): Process[] {
  try {
    const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
    const fields = fieldsOf(stat)
    const [, parent = 0] = fields
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + field, 0)
    return [{ pid: Number(name), parent, ticks }]
  } catch {
    return []
  }
}

/** The fields after the command, which is in parentheses and may contain anything; see proc(5). */
const fieldsOf = (stat: string): number[] =>
  stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
