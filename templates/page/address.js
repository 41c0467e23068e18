// What is shown follows from the address behind the #, so that every view can be linked to.
export const stateNow = () => new URLSearchParams(location.hash.slice(1));

// Change the address without showing the view again.
export const replaceState = (state) => history.replaceState(null, "", `#${state}`);

export const showAgain = () => window.dispatchEvent(new HashChangeEvent("hashchange"));

export function go(values) {
  const before = location.hash;
  location.hash = String(new URLSearchParams(values));
  if (location.hash === before) showAgain();
}
