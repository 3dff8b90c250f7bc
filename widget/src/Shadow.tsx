'use client'

import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import { adopt } from './sheet.js'

/** A server draws the element alone; nothing of it differs in the browser's first drawing. */
const useEarlyEffect = typeof document === 'undefined' ? useEffect : useLayoutEffect

/** Draws its children in an open shadow root. */
export function Shadow({ children, dir }: { children: ReactNode; dir: 'ltr' | 'rtl' | undefined }): ReactNode {
  const place = useRef<HTMLDivElement>(null)
  const [root, setRoot] = useState<ShadowRoot>()
  useEarlyEffect(() => {
    const { current } = place
    if (!current) return
    const found = current.shadowRoot ?? current.attachShadow({ mode: 'open' })
    adopt(found)
    setRoot(found)
  }, [])
  return (
    <div ref={place} dir={dir} data-openearn="">
      {root && createPortal(children, root)}
    </div>
  )
}
