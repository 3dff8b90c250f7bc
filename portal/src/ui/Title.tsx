import { type ReactNode, useEffect, useRef } from 'react'

/** The title of a page: of the window too. Readers by keyboard and by voice go on from here when the page changes. */
export function Title({ text, children }: { text: string; children?: ReactNode }): ReactNode {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${text} · OpenEarn`
  }, [text])
  useEffect(() => {
    // The first page is read from its top, as any page is.
    if (document.documentElement.dataset['moved'] !== undefined) heading.current?.focus({ preventScroll: true })
    document.documentElement.dataset['moved'] = ''
  }, [])
  return (
    <header className="title">
      <h1 ref={heading} tabIndex={-1}>
        <bdi>{text}</bdi>
      </h1>
      {children && <p className="muted">{children}</p>}
    </header>
  )
}
