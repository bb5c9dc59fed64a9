import type { Progress } from '../../projections/runner/replay.ts'

const width = 30

/**
 * A progress bar on stderr for long work: redrawn in place at a terminal, an occasional line elsewhere, and a
 * summary at the end. Short work shows nothing.
 */
export function showProgress(
  title: string,
  { unit = 'events', terminal = process.stderr.isTTY }: { unit?: string; terminal?: boolean } = {},
) {
  const started = performance.now()
  const showAfterMs = 500
  let lastShown = started
  let last: Progress | undefined
  /** Where the work began; it may continue what an earlier run left. */
  let first: { at: number; share: number } | undefined

  function line(progress: Progress): string {
    const share = shareOf(progress)
    const filled = Math.round(share * width)
    const bar = `${'█'.repeat(filled)}${'░'.repeat(width - filled)}`
    const seconds = (performance.now() - started) / 1000
    const perSecond = Math.round(progress.events / seconds)
    return `${title} ${bar} ${Math.floor(share * 100)} %  ${count(progress.events)} ${unit}  ${count(perSecond)}/s`
  }

  function timeLeft(progress: Progress): string {
    const share = shareOf(progress)
    if (!first || share <= first.share || share >= 1) return ''
    const seconds = ((performance.now() - first.at) / 1000) * ((1 - share) / (share - first.share))
    return `  ${inWords(seconds)} left`
  }

  return {
    update(progress: Progress): void {
      last = progress
      const now = performance.now()
      first ??= { at: now, share: shareOf(progress) }
      if (now - lastShown < (terminal ? 100 : 5000) || now - started < showAfterMs) return
      lastShown = now
      const text = `${line(progress)}${timeLeft(progress)}`
      process.stderr.write(terminal ? `\r${text}\x1b[K` : `${text}\n`)
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

const shareOf = ({ position, head }: Progress): number =>
  head > 0n ? Number((position * 1000n) / head) / 1000 : 1

/** Rounded up, because more work may arrive meanwhile. */
function inWords(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

const count = (value: number): string => value.toLocaleString('en-US')
