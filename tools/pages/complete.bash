# complete.bash - completion of perp and perpd for bash. perp-pages appends the tables of commands,
# flags, kinds of values and options; this file chooses among them.

# Offers the candidates for a value: words, or @files, or @markets of the profile's exchange.
_perp_offer() { # _perp_offer "WORDS"
    case $1 in
    @files)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
        ;;
    @markets)
        mapfile -t COMPREPLY < <(compgen -W "$("$program" markets -o json --timeout-ms 300 \
            2>/dev/null </dev/null | grep -o '"market":"[A-Z0-9-]*"' | cut -d'"' -f4)" \
            -- "$current")
        ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current") ;;
    esac
}

# Sets `value` to the kind of value of flag $1 among $flags; empty if it has none.
_perp_value() {
    local flag
    value=
    for flag in $flags; do
        [[ $flag == "$1="* ]] && value=${flag#*=}
    done
}

# Sets `command` to the command of the first words and removes its words.
_perp_find() {
    local two="${words[0]:-} ${words[1]:-}"
    command=
    if [[ ${#words[@]} -ge 2 && $'\n'$_perp_commands == *$'\n'"$two"$'\n'* ]]; then
        command=$two
    elif [[ ${#words[@]} -ge 1 && $'\n'$_perp_commands == *$'\n'"${words[0]}"$'\n'* ]]; then
        command=${words[0]}
    fi
    _perp_command "$command"
}

# Offers the words of commands that fit here: first words, or the second words of a group.
_perp_begin() {
    local first second found=()
    while read -r first second; do
        if [[ ${#words[@]} -eq 0 ]]; then
            found+=("$first")
        elif [[ $first == "${words[0]}" ]]; then
            found+=("$second")
        fi
    done <<<"$_perp_commands"
    _perp_offer "$(printf '%s\n' "${found[@]}" | sort -u)"
}

_perp() {
    local program=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} command='' flags=''
    local places='' value='' words=() own=() list=() i word next='' glued=''
    COMPREPLY=()
    _perp_find
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $word == : || -n $glued ]]; then # readline cuts a word at its colons
            glued=${word#"${word#:}"}
        elif [[ $word == = ]]; then # and --flag=value into three
            continue
        elif [[ -n $next ]]; then
            next=
        elif [[ $word == -o ]]; then
            next=FORMAT
        elif [[ $word == -* ]]; then
            _perp_value "$word"
            next=$value
        else
            words+=("$word")
            _perp_find
        fi
    done
    [[ -n $glued || $current == : ]] && return
    [[ $current == = ]] && current=
    if [[ -n $next ]]; then
        _perp_offer "$(_perp_place "$next")"
    elif [[ $current == -* ]]; then
        read -ra list <<<"$flags"
        _perp_offer "${list[*]%%=*}"
    elif [[ -z $command ]]; then
        _perp_begin
    else
        read -ra own <<<"$command"
        read -ra list <<<"$places"
        word=${list[${#words[@]} - ${#own[@]}]:-}
        word=${word#[}
        _perp_offer "$(_perp_place "${word%]}")"
    fi
}

_perpd() {
    local program=perpd current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} flag=
    COMPREPLY=()
    if [[ $current == = ]]; then
        flag=$before
        current=
    elif [[ $before == = ]]; then
        flag=${COMP_WORDS[COMP_CWORD - 2]}
    elif [[ $before == --config ]]; then
        flag=$before
    fi
    _perp_offer "$(if [[ -n $flag ]]; then _perpd_place "$flag"; else echo "$_perpd_options"; fi)"
}

complete -F _perp perp
complete -o nospace -F _perpd perpd
