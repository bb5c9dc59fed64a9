/** What an app says of itself, all of it optional. */
export type Telemetry = {
  appVersion: string | null
  sdkVersion: string | null
  platform: string | null
  sdk: string | null
}

/** The libraries there are. */
export const sdks = ['swift', 'rust', 'js', 'csharp', 'cpp'] as const
export type Sdk = (typeof sdks)[number]

/** The library that is meant where an app names its platform alone. C++ runs anywhere, so it is never inferred. */
const sdkByPlatform: Readonly<Record<string, Sdk>> = {
  macos: 'swift',
  ios: 'swift',
  ipados: 'swift',
  tvos: 'swift',
  watchos: 'swift',
  visionos: 'swift',
  windows: 'csharp',
  linux: 'rust',
  web: 'js',
  workers: 'js',
}

/** The library that an app is built with, as it says, else as its platform suggests; null when neither tells. */
export function sdkOf(sdk: Sdk | undefined, platform: string | undefined): Sdk | null {
  const known = platform?.toLowerCase() ?? ''
  return sdk ?? (Object.hasOwn(sdkByPlatform, known) ? (sdkByPlatform[known] ?? null) : null)
}
