// Long names in code type break after a dot, slash, underscore, colon or blank, and not inside a word or
// behind the dashes of a flag. <wbr> stays out of the search index and of what is copied.
"use strict";
document.documentElement.classList.add("named-breaks");
for (const code of document.querySelectorAll("main :not(pre) > code")) {
    for (const text of [...code.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE)) {
        const pieces = text.data.split(/(?<=[_\/:=(,\s]|\.(?!\w{1,3}$)|[a-z0-9]-)/);
        text.replaceWith(...pieces.flatMap((piece, at) => (at ? [document.createElement("wbr"), piece] : [piece])));
    }
}
