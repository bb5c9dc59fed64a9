import { setFlagsFromString } from 'node:v8'

/**
 * Keeps the young generation of the heap at its initial size. Under load it would grow to 128 MiB, a third of the
 * process, without making requests faster. It is set here because the process is started without V8 flags.
 * @see https://nodejs.org/api/v8.html#v8setflagsfromstringflags
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}
