/* The page as its file has it is painted first: what scripts need is asked for after it, or it would come in the way of its style. */
requestAnimationFrame(() => setTimeout(() => import('./page')));
