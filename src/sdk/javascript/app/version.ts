/** The version that is told as `sdk_version`: that of the package. */
export const sdkVersion = '0.1.0'
