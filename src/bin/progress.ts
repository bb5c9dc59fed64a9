import type { Progress } from '../../projections/runner/replay.ts'

const width = 30

/**
 * A bar on stderr for long work: drawn in place at a terminal, a line now and then elsewhere, and a summary at the
 * end. Shows nothing for work that is over before anybody would look.
 */
export function showProgress(title: string, terminal = process.stderr.isTTY) {
  const started = performance.now()
  const showAfterMs = 500
  let lastShown = started
  let last: Progress | undefined

  function line(progress: Progress): string {
    const share = progress.head > 0n ? Number((progress.position * 1000n) / progress.head) / 1000 : 1
    const filled = Math.round(share * width)
    const bar = `${'█'.repeat(filled)}${'░'.repeat(width - filled)}`
    const perSecond = Math.round(progress.events / ((performance.now() - started) / 1000))
    return `${title} ${bar} ${Math.floor(share * 100)} %  ${count(progress.events)} events  ${count(perSecond)}/s`
  }

  return {
    update(progress: Progress): void {
      last = progress
      const now = performance.now()
      if (now - lastShown < (terminal ? 100 : 5000) || now - started < showAfterMs) return
      lastShown = now
      process.stderr.write(terminal ? `\r${line(progress)}\x1b[K` : `${line(progress)}\n`)
    },
    done(): void {
      if (last === undefined || lastShown === started) return
      const seconds = ((performance.now() - started) / 1000).toFixed(1)
      process.stderr.write(
        `${terminal ? '\r' : ''}${line(last)}  in ${seconds} s${terminal ? '\x1b[K' : ''}\n`,
      )
    },
  }
}

const count = (value: number): string => value.toLocaleString('en-US')
