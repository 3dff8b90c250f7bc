/** The part of the package that tests use: it has no types of its own. */
declare module 'pngjs' {
  export class PNG {
    constructor(size: { width: number; height: number })
    readonly width: number
    readonly height: number
    readonly data: Buffer
    static readonly sync: {
      read(bytes: Buffer): PNG
      write(png: PNG): Buffer
    }
  }
}
